package blockstore.data;

/** The place of a node in a write pipeline. */
public enum Role {
    HEAD, MIDDLE, TAIL;

    /** The role of a node which has `after` nodes after it and may have some before it. */
    public static Role of(boolean first, int after) {
        return after == 0 ? TAIL : first ? HEAD : MIDDLE;
    }
}
