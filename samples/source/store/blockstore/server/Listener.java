package blockstore.server;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;

/** Accepts connections; each gets a handler with a thread of its own. */
public class Listener extends Thread {
    private static final Logger LOG = LoggerFactory.getLogger(Listener.class);

    private final ServerSocket server;
    private final Services services;

    public Listener(ServerSocket server, Services services) {
        super("listener");
        this.server = server;
        this.services = services;
    }

    @Override
    public void run() {
        try {
            while (true) {
                Socket socket = server.accept();
                socket.setTcpNoDelay(true);
                Thread thread = new Thread(new ClientHandler(socket, services));
                thread.setDaemon(true);
                thread.start();
            }
        } catch (IOException e) {
            LOG.error("Listener stops", e);
        }
    }
}
