package blockstore.data;

/** A copy that came through a write pipeline. */
public class WrittenReplica extends Replica {
    private final Role role;

    public WrittenReplica(Block block, byte[] bytes, Role role) {
        super(block, bytes);
        this.role = role;
    }

    @Override
    public String toString() {
        return super.toString() + ", written as " + role + "]";
    }
}
