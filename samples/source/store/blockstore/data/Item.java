package blockstore.data;

/** Anything the store keeps under a number; prints as its kind and that number. */
public abstract class Item {
    protected long id;

    protected Item() {
    }

    protected Item(long id) {
        this.id = id;
    }

    public long getId() {
        return id;
    }

    /** The word printed before the number. */
    protected abstract String kind();

    @Override
    public String toString() {
        return kind() + "-" + id;
    }
}
