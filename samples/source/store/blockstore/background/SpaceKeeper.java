package blockstore.background;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.util.concurrent.BlockingQueue;

/** Keeps account of freed space in a thread of its own, fed by a queue. */
public class SpaceKeeper {
    private static final Logger LOG = LoggerFactory.getLogger(SpaceKeeper.class);

    private final BlockingQueue<Freed> freed;
    private long total;

    public SpaceKeeper(Queues queues) {
        this.freed = queues.create();
    }

    /** Where queues come from. */
    public interface Queues {
        <T> BlockingQueue<T> create();
    }

    public void start() {
        Thread thread = new Thread(this::drain, "space-keeper");
        thread.setDaemon(true);
        thread.start();
    }

    void give(Freed note) {
        freed.add(note);
    }

    private void drain() {
        try {
            while (true) {
                release(freed.take());
            }
        } catch (InterruptedException e) {
            LOG.debug("Space keeper ends");
        }
    }

    private void release(Freed note) {
        total += note.bytes;
        LOG.info("Released {} bytes of {}, {} in all", note.bytes, note.block, total);
    }
}
