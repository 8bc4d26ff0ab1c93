package harness;

import blockstore.Network;
import blockstore.Node;
import blockstore.data.Block;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;

/** The process of the clients. Arguments: the nodes' ports, the file of requests. */
public final class Workload {
    static final int CLIENTS = 4;
    static final long SEED = 20140;
    private static final int SHARED_BLOCKS = 6;

    private Workload() {
    }

    public static void main(String[] args) throws Exception {
        Network network = new Network(new TracedSockets(), Node.parsePorts(args[0]));
        try (PrintWriter requests = new PrintWriter(Paths.get(args[1]).toFile(), StandardCharsets.UTF_8)) {
            List<SharedBlock> shared = new ArrayList<>();
            for (int i = 1; i <= SHARED_BLOCKS; i++) {
                shared.add(new SharedBlock(i));
            }
            try (Client first = new Client(0, network, requests, shared)) {
                first.writeShared();
            }
            runClients(network, requests, shared);
        }
    }

    private static void runClients(Network network, PrintWriter requests, List<SharedBlock> shared) throws Exception {
        CyclicBarrier together = new CyclicBarrier(CLIENTS);
        List<Thread> threads = new ArrayList<>();
        List<Throwable> failures = new ArrayList<>();
        for (int i = 1; i <= CLIENTS; i++) {
            int number = i;
            Thread thread = new Thread(() -> {
                try (Client client = new Client(number, network, requests, shared)) {
                    client.meet(together);
                    client.work();
                    client.meet(together);
                } catch (Exception e) {
                    synchronized (failures) {
                        failures.add(e);
                    }
                    together.reset();
                }
            });
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join(TimeUnit.SECONDS.toMillis(90));
        }
        if (!failures.isEmpty()) {
            throw new IOException("a client failed", failures.get(0));
        }
    }
}
