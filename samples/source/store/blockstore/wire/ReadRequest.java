package blockstore.wire;

import blockstore.data.Block;

/** Asks for the bytes of a block. */
public class ReadRequest extends BlockRequest {
    public ReadRequest() {
    }

    public ReadRequest(Block block) {
        super(block);
    }
}
