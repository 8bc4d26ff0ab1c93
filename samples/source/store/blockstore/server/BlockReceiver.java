package blockstore.server;

import blockstore.wire.Chunk;

import java.io.DataInputStream;
import java.io.IOException;

/** Takes the chunks of one write, passes them on, and tells the responder. */
class BlockReceiver {
    private final DataInputStream in;
    private final Downstream downstream;
    private final AckResponder responder;

    BlockReceiver(DataInputStream in, Downstream downstream, AckResponder responder) {
        this.in = in;
        this.downstream = downstream;
        this.responder = responder;
    }

    void receive() throws IOException, InterruptedException {
        Chunk chunk;
        do {
            chunk = new Chunk();
            chunk.readFields(in);
            if (downstream != null) {
                downstream.send(chunk);
            }
            responder.expect(chunk);
        } while (!chunk.isLast());
    }
}
