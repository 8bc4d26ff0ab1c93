package blockstore.wire;

import blockstore.data.Block;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/** Asks a node to check its copy, and names a node that holds another one. */
public class VerifyRequest extends BlockRequest {
    private String holder = "";

    public VerifyRequest() {
    }

    public VerifyRequest(Block block, String holder) {
        super(block);
        this.holder = holder;
    }

    public String getHolder() {
        return holder;
    }

    @Override
    public void write(DataOutput out) throws IOException {
        super.write(out);
        out.writeUTF(holder);
    }

    @Override
    public void readFields(DataInput in) throws IOException {
        super.readFields(in);
        holder = in.readUTF();
    }
}
