package harness;

import blockstore.Node;

import java.io.IOException;
import java.nio.file.Paths;

/**
 * One node in traced surroundings; arguments as of the plain node. It ends by
 * itself some time after any run is over, should nobody be left to stop it.
 */
public final class TracedNode {
    private static final long LIFE_MS_MAX = 180_000;

    private TracedNode() {
    }

    public static void main(String[] args) throws IOException {
        Thread end = new Thread(() -> {
            try {
                Thread.sleep(LIFE_MS_MAX);
            } catch (InterruptedException e) {
                return;
            }
            Runtime.getRuntime().halt(1);
        });
        end.setDaemon(true);
        end.start();
        new Node(args[0], Node.parsePorts(args[1]), Paths.get(args[2]), new TracedParts()).start();
    }
}
