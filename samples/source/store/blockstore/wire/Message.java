package blockstore.wire;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/** What travels between processes: the same class writes and reads its fields. */
public interface Message {
    void write(DataOutput out) throws IOException;

    void readFields(DataInput in) throws IOException;
}
