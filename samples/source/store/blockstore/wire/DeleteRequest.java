package blockstore.wire;

import blockstore.data.Block;

/** Asks a node to drop its copy of a block. */
public class DeleteRequest extends BlockRequest {
    public DeleteRequest() {
    }

    public DeleteRequest(Block block) {
        super(block);
    }
}
