package blockstore;

import blockstore.background.Reaper;
import blockstore.background.RepairWorker;
import blockstore.background.SpaceKeeper;
import blockstore.background.Verifier;
import blockstore.data.BlockTable;
import blockstore.handover.KeyedStore;
import blockstore.server.Listener;
import blockstore.server.Services;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.LinkedHashMap;
import java.util.Map;

/** One process of the store. Arguments: its name, `a=PORT,b=PORT,c=PORT`, the folder of orders. */
public class Node {
    private static final Logger LOG = LoggerFactory.getLogger(Node.class);

    private final String name;
    private final Map<String, Integer> ports;
    private final Path folder;
    private final Parts parts;

    public Node(String name, Map<String, Integer> ports, Path folder, Parts parts) {
        this.name = name;
        this.ports = ports;
        this.folder = folder;
        this.parts = parts;
    }

    public static void main(String[] args) throws IOException {
        new Node(args[0], parsePorts(args[1]), Paths.get(args[2]), new Parts()).start();
    }

    public static Map<String, Integer> parsePorts(String text) {
        Map<String, Integer> ports = new LinkedHashMap<>();
        for (String pair : text.split(",")) {
            int sign = pair.indexOf('=');
            ports.put(pair.substring(0, sign), Integer.parseInt(pair.substring(sign + 1)));
        }
        return ports;
    }

    /** Starts all threads of the node and returns; the listener keeps the process alive. */
    public void start() throws IOException {
        LOG.info("Node {} starts, one of {}", name, ports.keySet());
        BlockTable table = new BlockTable();
        KeyedStore orders = parts.orders(folder);
        Network network = new Network(parts.sockets(), ports);
        SpaceKeeper space = new SpaceKeeper(parts);
        space.start();
        Reaper reaper = new Reaper(parts.pool(2), table, space);
        Verifier verifier = new Verifier(name, table, orders, parts);
        Thread checks = new Thread(verifier, "verifier");
        checks.setDaemon(true);
        checks.start();
        new RepairWorker(name, network, table, orders).start();
        ServerSocket server = parts.serverSockets().createServerSocket(ports.get(name), 50, InetAddress.getLoopbackAddress());
        LOG.info("Node {} listens on port {}", name, server.getLocalPort());
        new Listener(server, new Services(network, table, reaper, verifier)).start();
    }
}
