package blockstore.data;

/** A copy that another node sent to repair a missing one. */
public class CopiedReplica extends Replica {
    private final String origin;

    public CopiedReplica(Block block, byte[] bytes, String origin) {
        super(block, bytes);
        this.origin = origin;
    }

    @Override
    public String toString() {
        return super.toString() + ", copied from " + origin + "]";
    }
}
