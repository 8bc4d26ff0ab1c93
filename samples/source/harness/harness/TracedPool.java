package harness;

import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Runs a task for the request of the thread that gave it. */
final class TracedPool extends ThreadPoolExecutor {
    TracedPool(int threads) {
        super(threads, threads, 0, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), task -> {
            Thread thread = new Thread(task);
            thread.setDaemon(true);
            return thread;
        });
    }

    @Override
    public void execute(Runnable task) {
        String unit = Truth.unit();
        super.execute(() -> {
            Truth.enter(unit);
            try {
                task.run();
            } finally {
                Truth.enter(Truth.NONE);
            }
        });
    }
}
