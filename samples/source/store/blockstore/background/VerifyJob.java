package blockstore.background;

import blockstore.data.Block;

/** One check that waits in the verifier's queue. */
public class VerifyJob {
    private final Block block;
    private final String holder;

    public VerifyJob(Block block, String holder) {
        this.block = block;
        this.holder = holder;
    }

    public Block getBlock() {
        return block;
    }

    public String getHolder() {
        return holder;
    }
}
