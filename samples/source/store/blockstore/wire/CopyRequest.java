package blockstore.wire;

import blockstore.data.Block;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/** Sends a whole block to a node that lacks it. */
public class CopyRequest extends BlockRequest {
    private String origin = "";
    private byte[] bytes = new byte[0];

    public CopyRequest() {
    }

    public CopyRequest(Block block, String origin, byte[] bytes) {
        super(block);
        this.origin = origin;
        this.bytes = bytes;
    }

    public String getOrigin() {
        return origin;
    }

    public byte[] getBytes() {
        return bytes;
    }

    @Override
    public void write(DataOutput out) throws IOException {
        super.write(out);
        out.writeUTF(origin);
        out.writeInt(bytes.length);
        out.write(bytes);
    }

    @Override
    public void readFields(DataInput in) throws IOException {
        super.readFields(in);
        origin = in.readUTF();
        bytes = new byte[in.readInt()];
        in.readFully(bytes);
    }
}
