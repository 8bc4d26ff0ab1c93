package blockstore;

import javax.net.SocketFactory;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.util.Map;

/** How one node reaches another by name. */
public class Network {
    private final SocketFactory sockets;
    private final Map<String, Integer> ports;

    public Network(SocketFactory sockets, Map<String, Integer> ports) {
        this.sockets = sockets;
        this.ports = ports;
    }

    public Socket connect(String node) throws IOException {
        Integer port = ports.get(node);
        if (port == null) {
            throw new IOException("unknown node " + node);
        }
        Socket socket = sockets.createSocket(InetAddress.getLoopbackAddress(), port);
        socket.setTcpNoDelay(true);
        return socket;
    }
}
