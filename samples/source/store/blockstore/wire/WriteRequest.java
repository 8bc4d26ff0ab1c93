package blockstore.wire;

import blockstore.data.Block;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** Opens a write: the block, and the nodes it still has to go to after the receiver. */
public class WriteRequest implements Message {
    private Block block = new Block();
    private boolean first;
    private List<String> targets = new ArrayList<>();

    public WriteRequest() {
    }

    public WriteRequest(Block block, boolean first, List<String> targets) {
        this.block = block;
        this.first = first;
        this.targets = targets;
    }

    public Block getBlock() {
        return block;
    }

    public boolean isFirst() {
        return first;
    }

    public List<String> getTargets() {
        return targets;
    }

    /** The nodes still to come, for people: `[b, c]`. */
    public String route() {
        StringBuilder text = new StringBuilder("[");
        for (int i = 0; i < targets.size(); i++) {
            if (i > 0) {
                text.append(", ");
            }
            text.append(targets.get(i));
        }
        return text.append(']').toString();
    }

    @Override
    public void write(DataOutput out) throws IOException {
        block.write(out);
        out.writeBoolean(first);
        out.writeByte(targets.size());
        for (String target : targets) {
            out.writeUTF(target);
        }
    }

    @Override
    public void readFields(DataInput in) throws IOException {
        block.readFields(in);
        first = in.readBoolean();
        int n = in.readUnsignedByte();
        for (int i = 0; i < n; i++) {
            targets.add(in.readUTF());
        }
    }
}
