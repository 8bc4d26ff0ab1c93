package blockstore;

import blockstore.background.SpaceKeeper;
import blockstore.handover.FolderStore;
import blockstore.handover.KeyedStore;

import javax.net.ServerSocketFactory;
import javax.net.SocketFactory;
import java.nio.file.Path;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;

/** What a node takes from its surroundings; a subclass may bring other sockets, pools and queues. */
public class Parts implements SpaceKeeper.Queues {
    public SocketFactory sockets() {
        return SocketFactory.getDefault();
    }

    public ServerSocketFactory serverSockets() {
        return ServerSocketFactory.getDefault();
    }

    public ExecutorService pool(int threads) {
        return Executors.newFixedThreadPool(threads);
    }

    @Override
    public <T> BlockingQueue<T> create() {
        return new LinkedBlockingQueue<>();
    }

    public KeyedStore orders(Path folder) {
        return new FolderStore(folder);
    }
}
