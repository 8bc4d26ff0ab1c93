package blockstore.background;

import blockstore.data.Block;
import blockstore.data.BlockTable;
import blockstore.data.Replica;
import blockstore.handover.KeyedStore;
import blockstore.wire.RepairOrder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.concurrent.BlockingQueue;

/** Checks replicas one after the other; orders a copy of what is missing. */
public class Verifier implements Runnable {
    private static final Logger LOG = LoggerFactory.getLogger(Verifier.class);

    private final String self;
    private final BlockTable table;
    private final KeyedStore orders;
    private final BlockingQueue<VerifyJob> jobs;

    public Verifier(String self, BlockTable table, KeyedStore orders, SpaceKeeper.Queues queues) {
        this.self = self;
        this.table = table;
        this.orders = orders;
        this.jobs = queues.create();
    }

    public void submit(VerifyJob job) throws InterruptedException {
        jobs.put(job);
    }

    @Override
    public void run() {
        while (true) {
            try {
                VerifyJob job = jobs.take();
                check(job);
            } catch (InterruptedException e) {
                return;
            } catch (IOException e) {
                LOG.error("Verifier cannot leave an order", e);
            }
        }
    }

    private void check(VerifyJob job) throws IOException {
        Replica replica = table.find(job.getBlock());
        boolean present = replica != null && replica.getBytes().length > 0;
        LOG.info("Checked " + job.getBlock() + ": " + (present ? "intact" : "missing"));
        if (!present) {
            order(job.getBlock(), job.getHolder());
        }
    }

    private void order(Block block, String holder) throws IOException {
        RepairOrder order = new RepairOrder(block, holder, self);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        order.write(new DataOutputStream(bytes));
        LOG.info("Leaving {} under key {}", order, order.key());
        orders.put(order.key(), bytes.toByteArray());
    }
}
