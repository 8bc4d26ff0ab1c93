package blockstore.wire;

import blockstore.data.Block;

/** Asks whether a node holds a block, and how it got it. */
public class StatusRequest extends BlockRequest {
    public StatusRequest() {
    }

    public StatusRequest(Block block) {
        super(block);
    }
}
