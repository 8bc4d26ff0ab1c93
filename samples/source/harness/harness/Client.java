package harness;

import blockstore.Network;
import blockstore.client.StoreClient;
import blockstore.data.Block;

import java.io.Closeable;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;

/** One client: a fixed number of steps of each kind, in an order that the seed decides. */
final class Client implements Closeable {
    private static final List<String> NODES = Arrays.asList("a", "b", "c");
    private static final int MEETING_READS = 4;
    private static final long RETRY_AFTER_MS = 4000;

    private enum Step {
        READ(9), WRITE(5), REWRITE(2), DELETE(2), STATUS(2), READ_ABSENT(1), VERIFY(1), REPAIR(1);

        private final int times;

        Step(int times) {
            this.times = times;
        }
    }

    private final int number;
    private final Network network;
    private final PrintWriter requests;
    private final List<SharedBlock> shared;
    private final Random random;
    private final Map<String, StoreClient> connections = new LinkedHashMap<>();
    private final List<Block> own = new ArrayList<>();
    private int requestCount;
    private int blockCount;

    Client(int number, Network network, PrintWriter requests, List<SharedBlock> shared) {
        this.number = number;
        this.network = network;
        this.requests = requests;
        this.shared = shared;
        this.random = new Random(Workload.SEED + number);
    }

    void writeShared() throws Exception {
        for (SharedBlock block : shared) {
            rewrite(block);
        }
    }

    /** Two clients write new versions of one block while the others read it at one node. */
    void meet(CyclicBarrier together) throws Exception {
        SharedBlock block = shared.get(0);
        Block newest = block.newest();
        connection("b");
        together.await(30, TimeUnit.SECONDS);
        if (number <= 2) {
            rewrite(block);
        } else {
            for (int i = 0; i < MEETING_READS; i++) {
                read(newest, "b");
            }
        }
    }

    void work() throws Exception {
        Block retried = newBlock();
        List<String> route = route(3);
        write(retried, route);
        long written = System.nanoTime();
        List<Step> steps = new ArrayList<>();
        for (Step step : Step.values()) {
            steps.addAll(Collections.nCopies(step.times, step));
        }
        Collections.shuffle(steps, random);
        for (Step step : steps) {
            Thread.sleep(10 + random.nextInt(90));
            take(step);
        }
        if (number <= 2) {
            long passed = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - written);
            Thread.sleep(Math.max(0, RETRY_AFTER_MS - passed));
            write(retried, route);
        }
    }

    private void take(Step step) throws Exception {
        switch (step) {
            case READ:
                read(pick(shared).newest(), pick(NODES));
                break;
            case WRITE:
                Block block = newBlock();
                write(block, route(3));
                own.add(block);
                break;
            case REWRITE:
                rewrite(pick(shared));
                break;
            case DELETE:
                deleteOne();
                break;
            case STATUS:
                status(pick(shared).newest(), pick(NODES));
                break;
            case READ_ABSENT:
                read(new Block(900 + number, 1), pick(NODES));
                break;
            case VERIFY:
                verify(shared.get(number).newest(), "a", "b");
                break;
            case REPAIR:
                repair();
                break;
            default:
                throw new IllegalStateException(step.name());
        }
    }

    private void rewrite(SharedBlock shared) throws Exception {
        Block block = shared.reserve();
        write(block, route(3));
        shared.finished(block);
    }

    private void deleteOne() throws IOException {
        if (own.isEmpty()) {
            status(new Block(900 + number, 2), "c");
            return;
        }
        Block block = own.remove(0);
        for (String node : NODES) {
            begin("ClientHandler.deleteBlock");
            connection(node).delete(block);
        }
    }

    /** Writes to two nodes only and has the third find out; later the third is asked again. */
    private void repair() throws Exception {
        Block block = newBlock();
        List<String> route = route(3);
        String lacking = route.get(2);
        write(block, route.subList(0, 2));
        verify(block, lacking, route.get(0));
        for (int i = 0; i < 50 && !presentAfter(block, lacking, i); i++) {
            Thread.sleep(100);
        }
        verify(block, lacking, route.get(1));
    }

    private boolean presentAfter(Block block, String node, int attempt) throws IOException {
        return attempt >= 5 && status(block, node);
    }

    private void write(Block block, List<String> route) throws Exception {
        begin("ClientHandler.writeBlock");
        List<byte[]> chunks = new ArrayList<>();
        for (int i = 0; i < 2 + random.nextInt(5); i++) {
            chunks.add(new byte[512 + random.nextInt(4096)]);
        }
        int copies = connection(route.get(0)).write(block, route.subList(1, route.size()), chunks);
        if (copies != route.size()) {
            throw new IOException(block + " has " + copies + " copies");
        }
    }

    private void read(Block block, String node) throws IOException {
        begin("ClientHandler.readBlock");
        connection(node).read(block);
    }

    private boolean status(Block block, String node) throws IOException {
        begin("ClientHandler.blockStatus");
        return connection(node).isPresent(block);
    }

    private void verify(Block block, String node, String holder) throws IOException {
        begin("ClientHandler.verifyBlock");
        connection(node).verify(block, holder);
    }

    /** Opens the next request of this client and notes what the node will serve it with. */
    private void begin(String type) {
        String unit = "client" + number + "." + ++requestCount;
        Truth.enter(unit);
        synchronized (requests) {
            requests.println(unit + "\t" + type);
        }
    }

    private Block newBlock() {
        return new Block(100L * number + ++blockCount, 1);
    }

    private List<String> route(int nodes) {
        List<String> order = new ArrayList<>(NODES);
        Collections.shuffle(order, random);
        return order.subList(0, nodes);
    }

    private StoreClient connection(String node) throws IOException {
        StoreClient connection = connections.get(node);
        if (connection == null) {
            connection = new StoreClient(network, node);
            connections.put(node, connection);
        }
        return connection;
    }

    private <T> T pick(List<T> list) {
        return list.get(random.nextInt(list.size()));
    }

    @Override
    public void close() throws IOException {
        for (StoreClient connection : connections.values()) {
            connection.close();
        }
    }
}
