package blockstore.wire;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/** First byte of every request on a connection. */
public enum OpCode {
    WRITE, READ, DELETE, VERIFY, COPY, STATUS;

    private static final OpCode[] VALUES = values();

    public void write(DataOutput out) throws IOException {
        out.writeByte(ordinal());
    }

    public static OpCode read(DataInput in) throws IOException {
        int code = in.readUnsignedByte();
        if (code >= VALUES.length) {
            throw new IOException("unknown operation " + code);
        }
        return VALUES[code];
    }
}
