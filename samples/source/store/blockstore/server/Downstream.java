package blockstore.server;

import blockstore.Network;
import blockstore.wire.Ack;
import blockstore.wire.Chunk;
import blockstore.wire.OpCode;
import blockstore.wire.WriteRequest;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.Socket;
import java.util.List;

/** The connection to the next node of a write pipeline. */
class Downstream {
    private final String node;
    private final Socket socket;
    private final DataInputStream in;
    private final DataOutputStream out;

    /** Connects to the first target and hands the rest of the route on. */
    Downstream(Network network, WriteRequest request) throws IOException {
        List<String> targets = request.getTargets();
        this.node = targets.get(0);
        this.socket = network.connect(node);
        this.in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
        this.out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream()));
        OpCode.WRITE.write(out);
        new WriteRequest(request.getBlock(), false, targets.subList(1, targets.size())).write(out);
        out.flush();
    }

    String getNode() {
        return node;
    }

    void send(Chunk chunk) throws IOException {
        chunk.write(out);
        out.flush();
    }

    Ack readAck() throws IOException {
        Ack ack = new Ack();
        ack.readFields(in);
        return ack;
    }

    void close() throws IOException {
        socket.close();
    }
}
