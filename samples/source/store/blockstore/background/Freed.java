package blockstore.background;

import blockstore.data.Block;

/** Tells the space keeper how much a deletion gave back. */
class Freed {
    final Block block;
    final int bytes;

    Freed(Block block, int bytes) {
        this.block = block;
        this.bytes = bytes;
    }
}
