package blockstore.data;

/** One node's copy of a block; the subclasses say how it came here. */
public abstract class Replica {
    protected final Block block;
    protected final byte[] bytes;

    protected Replica(Block block, byte[] bytes) {
        this.block = block;
        this.bytes = bytes;
    }

    public Block getBlock() {
        return block;
    }

    public byte[] getBytes() {
        return bytes;
    }

    @Override
    public String toString() {
        return getClass().getSimpleName() + "[" + block + ", " + bytes.length + " bytes";
    }
}
