package harness;

import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Starts three nodes and the clients on loopback, waits for the clients, and
 * stops the nodes. Argument: an empty folder, which gets logs, truth and the
 * list of requests.
 */
public final class RunSample {
    private static final List<String> NODES = Arrays.asList("a", "b", "c");
    private static final long RUN_SECONDS_MAX = 120;
    private static final long START_SECONDS_MAX = 20;
    private static final long SETTLE_MS = 500;

    private RunSample() {
    }

    public static void main(String[] args) throws Exception {
        Path folder = Paths.get(args[0]);
        Path orders = Files.createDirectory(folder.resolve("orders"));
        List<Integer> ports = freePorts(NODES.size());
        List<String> pairs = new ArrayList<>();
        for (int i = 0; i < NODES.size(); i++) {
            pairs.add(NODES.get(i) + "=" + ports.get(i));
        }
        String table = String.join(",", pairs);
        List<Process> started = new ArrayList<>();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> started.forEach(Process::destroyForcibly)));
        try {
            for (String node : NODES) {
                started.add(start(folder, node, "harness.TracedNode", node, table, orders.toString()));
            }
            for (int port : ports) {
                awaitPort(port);
            }
            Process clients = start(folder, "client", "harness.Workload", table,
                    folder.resolve("requests").toString());
            started.add(clients);
            if (!clients.waitFor(RUN_SECONDS_MAX, TimeUnit.SECONDS) || clients.exitValue() != 0) {
                throw new IOException("the clients did not finish");
            }
            Thread.sleep(SETTLE_MS);
        } finally {
            started.forEach(Process::destroy);
            for (Process process : started) {
                process.waitFor(START_SECONDS_MAX, TimeUnit.SECONDS);
            }
        }
    }

    private static Process start(Path folder, String name, String main, String... args) throws IOException {
        List<String> command = new ArrayList<>(Arrays.asList(
                Paths.get(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx64m", "-XX:+UseSerialGC", "-Duser.timezone=UTC", "-Dsample.node=" + name,
                "-Dsample.folder=" + folder, "-cp", System.getProperty("java.class.path"), main));
        command.addAll(Arrays.asList(args));
        return new ProcessBuilder(command).redirectErrorStream(true)
                .redirectOutput(new File(folder.toFile(), name + ".out")).start();
    }

    private static List<Integer> freePorts(int count) throws IOException {
        List<Integer> ports = new ArrayList<>();
        List<ServerSocket> held = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
            held.add(socket);
            ports.add(socket.getLocalPort());
        }
        for (ServerSocket socket : held) {
            socket.close();
        }
        return ports;
    }

    private static void awaitPort(int port) throws IOException, InterruptedException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(START_SECONDS_MAX);
        while (true) {
            try {
                new Socket(InetAddress.getLoopbackAddress(), port).close();
                return;
            } catch (IOException e) {
                if (System.nanoTime() > end) {
                    throw e;
                }
                Thread.sleep(50);
            }
        }
    }
}
