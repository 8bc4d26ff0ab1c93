package harness;

import javax.net.ServerSocketFactory;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;

/** Makes server sockets that accept traced sockets. */
final class TracedServerSockets extends ServerSocketFactory {
    @Override
    public ServerSocket createServerSocket(int port) throws IOException {
        return createServerSocket(port, 50, null);
    }

    @Override
    public ServerSocket createServerSocket(int port, int backlog) throws IOException {
        return createServerSocket(port, backlog, null);
    }

    @Override
    public ServerSocket createServerSocket(int port, int backlog, InetAddress address) throws IOException {
        return new ServerSocket(port, backlog, address) {
            @Override
            public Socket accept() throws IOException {
                TracedSocket socket = new TracedSocket();
                implAccept(socket);
                return socket;
            }
        };
    }
}
