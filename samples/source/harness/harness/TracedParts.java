package harness;

import blockstore.Parts;
import blockstore.handover.KeyedStore;

import javax.net.ServerSocketFactory;
import javax.net.SocketFactory;
import java.nio.file.Path;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;

/** The surroundings of a node in which every hand-over carries its request. */
final class TracedParts extends Parts {
    @Override
    public SocketFactory sockets() {
        return new TracedSockets();
    }

    @Override
    public ServerSocketFactory serverSockets() {
        return new TracedServerSockets();
    }

    @Override
    public ExecutorService pool(int threads) {
        return new TracedPool(threads);
    }

    @Override
    public <T> BlockingQueue<T> create() {
        return new TracedQueue<>();
    }

    @Override
    public KeyedStore orders(Path folder) {
        return new TracedStore(folder);
    }
}
