package blockstore.client;

import blockstore.Network;
import blockstore.data.Block;
import blockstore.wire.Ack;
import blockstore.wire.Chunk;
import blockstore.wire.DeleteRequest;
import blockstore.wire.Message;
import blockstore.wire.OpCode;
import blockstore.wire.Outcome;
import blockstore.wire.ReadRequest;
import blockstore.wire.Reply;
import blockstore.wire.StatusRequest;
import blockstore.wire.VerifyRequest;
import blockstore.wire.WriteRequest;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.Closeable;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.Socket;
import java.util.List;

/** A client's connection to one node, for one operation after the other. */
public class StoreClient implements Closeable {
    private final Socket socket;
    private final DataInputStream in;
    private final DataOutputStream out;

    public StoreClient(Network network, String node) throws IOException {
        this.socket = network.connect(node);
        this.in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
        this.out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream()));
    }

    /** Writes the chunks to this node and from there to the targets; returns the number of copies. */
    public int write(Block block, List<String> targets, List<byte[]> chunks) throws IOException {
        OpCode.WRITE.write(out);
        new WriteRequest(block, true, targets).write(out);
        for (int i = 0; i < chunks.size(); i++) {
            new Chunk(i, i == chunks.size() - 1, chunks.get(i)).write(out);
            out.flush();
        }
        int copies = 0;
        for (int i = 0; i < chunks.size(); i++) {
            Ack ack = new Ack();
            ack.readFields(in);
            copies = ack.getCopies();
        }
        return copies;
    }

    /** The bytes, or null where the node does not hold the block. */
    public byte[] read(Block block) throws IOException {
        Reply reply = call(OpCode.READ, new ReadRequest(block));
        return reply.getOutcome() == Outcome.DONE ? reply.getBytes() : null;
    }

    public void delete(Block block) throws IOException {
        call(OpCode.DELETE, new DeleteRequest(block));
    }

    public void verify(Block block, String holder) throws IOException {
        call(OpCode.VERIFY, new VerifyRequest(block, holder));
    }

    public boolean isPresent(Block block) throws IOException {
        return call(OpCode.STATUS, new StatusRequest(block)).getOutcome() == Outcome.DONE;
    }

    private Reply call(OpCode op, Message request) throws IOException {
        op.write(out);
        request.write(out);
        out.flush();
        Reply reply = new Reply();
        reply.readFields(in);
        return reply;
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
