package harness;

import blockstore.data.Block;

/** A block that all clients read and write anew: its newest finished version and the next free one. */
final class SharedBlock {
    private final long id;
    private int newest;
    private int next = 1;

    SharedBlock(long id) {
        this.id = id;
    }

    synchronized Block reserve() {
        return new Block(id, next++);
    }

    synchronized void finished(Block block) {
        newest = Math.max(newest, block.getVersion());
    }

    synchronized Block newest() {
        return new Block(id, newest);
    }
}
