package blockstore.wire;

import blockstore.data.Block;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/** A request that names one block and nothing else. */
public abstract class BlockRequest implements Message {
    protected Block block = new Block();

    protected BlockRequest() {
    }

    protected BlockRequest(Block block) {
        this.block = block;
    }

    public Block getBlock() {
        return block;
    }

    @Override
    public void write(DataOutput out) throws IOException {
        block.write(out);
    }

    @Override
    public void readFields(DataInput in) throws IOException {
        block.readFields(in);
    }
}
