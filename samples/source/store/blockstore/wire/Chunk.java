package blockstore.wire;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/** A piece of a block on its way through the pipeline. */
public class Chunk implements Message {
    private int seq;
    private boolean last;
    private byte[] bytes = new byte[0];

    public Chunk() {
    }

    public Chunk(int seq, boolean last, byte[] bytes) {
        this.seq = seq;
        this.last = last;
        this.bytes = bytes;
    }

    public int getSeq() {
        return seq;
    }

    public boolean isLast() {
        return last;
    }

    public byte[] getBytes() {
        return bytes;
    }

    @Override
    public void write(DataOutput out) throws IOException {
        out.writeInt(seq);
        out.writeBoolean(last);
        out.writeInt(bytes.length);
        out.write(bytes);
    }

    @Override
    public void readFields(DataInput in) throws IOException {
        seq = in.readInt();
        last = in.readBoolean();
        bytes = new byte[in.readInt()];
        in.readFully(bytes);
    }
}
