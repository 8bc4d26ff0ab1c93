package blockstore.wire;

import blockstore.data.Block;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/** Left in the shared folder: `from` shall send a block to `to`. */
public class RepairOrder extends BlockRequest {
    private String from = "";
    private String to = "";

    public RepairOrder() {
    }

    public RepairOrder(Block block, String from, String to) {
        super(block);
        this.from = from;
        this.to = to;
    }

    public String getFrom() {
        return from;
    }

    public String getTo() {
        return to;
    }

    /** The key it is left under; begins with the node that shall take it. */
    public String key() {
        return from + "-repair-" + block.getId() + "-" + block.getVersion();
    }

    @Override
    public void write(DataOutput out) throws IOException {
        super.write(out);
        out.writeUTF(from);
        out.writeUTF(to);
    }

    @Override
    public void readFields(DataInput in) throws IOException {
        super.readFields(in);
        from = in.readUTF();
        to = in.readUTF();
    }

    @Override
    public String toString() {
        return "RepairOrder{" + block + ", " + from + " to " + to + "}";
    }
}
