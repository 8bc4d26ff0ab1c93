package blockstore.wire;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/** Says up the pipeline that a chunk is kept by `copies` nodes. */
public class Ack implements Message {
    private int seq;
    private int copies;

    public Ack() {
    }

    public Ack(int seq, int copies) {
        this.seq = seq;
        this.copies = copies;
    }

    public int getSeq() {
        return seq;
    }

    public int getCopies() {
        return copies;
    }

    @Override
    public void write(DataOutput out) throws IOException {
        out.writeInt(seq);
        out.writeInt(copies);
    }

    @Override
    public void readFields(DataInput in) throws IOException {
        seq = in.readInt();
        copies = in.readInt();
    }
}
