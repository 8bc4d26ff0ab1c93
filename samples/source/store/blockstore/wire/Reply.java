package blockstore.wire;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/** How a request ended, and the bytes it asked for. */
public class Reply implements Message {
    private Outcome outcome = Outcome.DONE;
    private byte[] bytes = new byte[0];

    public Reply() {
    }

    public Reply(Outcome outcome, byte[] bytes) {
        this.outcome = outcome;
        this.bytes = bytes;
    }

    public Outcome getOutcome() {
        return outcome;
    }

    public byte[] getBytes() {
        return bytes;
    }

    @Override
    public void write(DataOutput out) throws IOException {
        out.writeByte(outcome.ordinal());
        out.writeInt(bytes.length);
        out.write(bytes);
    }

    @Override
    public void readFields(DataInput in) throws IOException {
        outcome = Outcome.values()[in.readUnsignedByte()];
        bytes = new byte[in.readInt()];
        in.readFully(bytes);
    }
}
