package blockstore.background;

import blockstore.data.Block;
import blockstore.data.BlockTable;
import blockstore.data.Replica;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Drops one replica; runs on the reaper's pool. */
class ReapTask implements Runnable {
    private static final Logger LOG = LoggerFactory.getLogger(ReapTask.class);

    private final Block block;
    private final BlockTable table;
    private final SpaceKeeper space;

    ReapTask(Block block, BlockTable table, SpaceKeeper space) {
        this.block = block;
        this.table = table;
        this.space = space;
    }

    @Override
    public void run() {
        Replica replica = table.remove(block);
        if (replica == null) {
            LOG.warn("Nothing to delete for {}", block);
            return;
        }
        LOG.info("Deleted " + block + ", which was " + replica);
        space.give(new Freed(block, replica.getBytes().length));
    }
}
