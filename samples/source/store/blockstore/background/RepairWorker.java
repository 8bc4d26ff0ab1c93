package blockstore.background;

import blockstore.Network;
import blockstore.data.Block;
import blockstore.data.BlockTable;
import blockstore.handover.KeyedStore;
import blockstore.wire.CopyRequest;
import blockstore.wire.OpCode;
import blockstore.wire.RepairOrder;
import blockstore.wire.Reply;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.Socket;

/** Takes the orders left for this node and sends the blocks they ask for. */
public final class RepairWorker extends Thread {
    private static final Logger LOG = LoggerFactory.getLogger(RepairWorker.class);
    private static final long PAUSE_MS = 20;

    private final String self;
    private final Network network;
    private final BlockTable table;
    private final KeyedStore orders;

    public RepairWorker(String self, Network network, BlockTable table, KeyedStore orders) {
        super("repair-worker");
        this.self = self;
        this.network = network;
        this.table = table;
        this.orders = orders;
        setDaemon(true);
    }

    @Override
    public void run() {
        try {
            while (true) {
                String key = orders.next(self + "-repair-");
                if (key == null) {
                    Thread.sleep(PAUSE_MS);
                    continue;
                }
                RepairOrder order = new RepairOrder();
                order.readFields(new DataInputStream(new ByteArrayInputStream(orders.take(key))));
                repair(order);
            }
        } catch (InterruptedException e) {
            LOG.debug("Repair worker ends");
        } catch (IOException e) {
            LOG.error("Repair worker stops", e);
        }
    }

    private void repair(RepairOrder order) throws IOException {
        Block block = order.getBlock();
        LOG.info("Repairing " + block + " at " + order.getTo());
        byte[] bytes = table.get(block).getBytes();
        try (Socket socket = network.connect(order.getTo())) {
            DataOutputStream out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream()));
            OpCode.COPY.write(out);
            new CopyRequest(block, self, bytes).write(out);
            out.flush();
            Reply reply = new Reply();
            reply.readFields(new DataInputStream(new BufferedInputStream(socket.getInputStream())));
            LOG.info("Sent " + bytes.length + " bytes of " + block + " to " + order.getTo() + ": " + reply.getOutcome());
        }
        LOG.info("Repair order closed");
    }
}
