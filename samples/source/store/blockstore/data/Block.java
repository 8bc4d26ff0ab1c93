package blockstore.data;

import blockstore.wire.Message;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/** The name of one block in one version: `block-7:v2`. */
public class Block extends Item implements Message {
    private int version;

    public Block() {
    }

    public Block(long id, int version) {
        super(id);
        this.version = version;
    }

    public int getVersion() {
        return version;
    }

    @Override
    protected String kind() {
        return "block";
    }

    @Override
    public void write(DataOutput out) throws IOException {
        out.writeLong(id);
        out.writeInt(version);
    }

    @Override
    public void readFields(DataInput in) throws IOException {
        id = in.readLong();
        version = in.readInt();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Block && ((Block) other).id == id && ((Block) other).version == version;
    }

    @Override
    public int hashCode() {
        return Long.hashCode(id) * 31 + version;
    }

    @Override
    public String toString() {
        return super.toString() + ":v" + version;
    }
}
