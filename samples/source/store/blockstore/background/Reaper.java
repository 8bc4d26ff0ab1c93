package blockstore.background;

import blockstore.data.Block;
import blockstore.data.BlockTable;

import java.util.concurrent.ExecutorService;

/** Deletes replicas out of the way of clients, on a pool. */
public class Reaper {
    private final ExecutorService pool;
    private final BlockTable table;
    private final SpaceKeeper space;

    public Reaper(ExecutorService pool, BlockTable table, SpaceKeeper space) {
        this.pool = pool;
        this.table = table;
        this.space = space;
    }

    public void schedule(Block block) {
        pool.execute(new ReapTask(block, table, space));
    }
}
