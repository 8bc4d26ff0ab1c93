package blockstore.data;

import java.io.IOException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The replicas that one node holds. */
public class BlockTable {
    private final Map<Block, Replica> replicas = new ConcurrentHashMap<>();

    public void add(Replica replica) {
        replicas.put(replica.getBlock(), replica);
    }

    /** The replica, or null. */
    public Replica find(Block block) {
        return replicas.get(block);
    }

    /** The replica, or an exception that names what is missing. */
    public Replica get(Block block) throws IOException {
        Replica replica = replicas.get(block);
        if (replica == null) {
            throw new NoSuchBlockException(block + " is not here");
        }
        return replica;
    }

    public Replica remove(Block block) {
        return replicas.remove(block);
    }
}
