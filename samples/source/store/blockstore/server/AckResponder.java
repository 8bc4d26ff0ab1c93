package blockstore.server;

import blockstore.data.Block;
import blockstore.data.BlockTable;
import blockstore.data.Replica;
import blockstore.data.Role;
import blockstore.data.WrittenReplica;
import blockstore.wire.Ack;
import blockstore.wire.Chunk;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/** Started for each write: sends acknowledgements up the pipeline in the order of the chunks. */
class AckResponder extends Thread {
    private static final Logger LOG = LoggerFactory.getLogger(AckResponder.class);

    private final Block block;
    private final Role role;
    private final Downstream downstream;
    private final DataOutputStream upstream;
    private final BlockTable table;
    private final BlockingQueue<Chunk> expected = new LinkedBlockingQueue<>();
    private final String label;

    AckResponder(Block block, Role role, Downstream downstream, DataOutputStream upstream, BlockTable table) {
        this.block = block;
        this.role = role;
        this.downstream = downstream;
        this.upstream = upstream;
        this.table = table;
        StringBuilder text = new StringBuilder(getClass().getSimpleName());
        text.append(" of ").append(block).append(", role=").append(role);
        if (downstream != null) {
            text.append(", before=").append(downstream.getNode());
        }
        this.label = text.toString();
    }

    void expect(Chunk chunk) throws InterruptedException {
        expected.put(chunk);
    }

    @Override
    public void run() {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try {
            Chunk chunk;
            do {
                chunk = expected.take();
                int copies = 1;
                if (downstream != null) {
                    copies += downstream.readAck().getCopies();
                }
                bytes.write(chunk.getBytes());
                if (chunk.isLast()) {
                    keep(bytes.toByteArray());
                }
                new Ack(chunk.getSeq(), copies).write(upstream);
                upstream.flush();
            } while (!chunk.isLast());
            LOG.info(label + " finished");
        } catch (IOException e) {
            LOG.error(label + " fails", e);
        } catch (InterruptedException e) {
            LOG.warn(label + " is interrupted");
        }
    }

    private void keep(byte[] bytes) {
        Replica replica = new WrittenReplica(block, bytes, role);
        table.add(replica);
        LOG.info("Stored {}", replica);
    }
}
