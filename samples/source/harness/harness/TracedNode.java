package harness;

import blockstore.Node;

import java.io.IOException;
import java.nio.file.Paths;

/** One node in traced surroundings; arguments as of the plain node. */
public final class TracedNode {
    private TracedNode() {
    }

    public static void main(String[] args) throws IOException {
        new Node(args[0], Node.parsePorts(args[1]), Paths.get(args[2]), new TracedParts()).start();
    }
}
