package harness;

import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.concurrent.LinkedBlockingQueue;

/** Who takes an element works for the request of who put it; `add` ends in `offer`. */
final class TracedQueue<T> extends LinkedBlockingQueue<T> {
    private static final long serialVersionUID = 1L;

    private final transient Map<T, String> units = Collections.synchronizedMap(new IdentityHashMap<>());

    @Override
    public void put(T element) throws InterruptedException {
        units.put(element, Truth.unit());
        super.put(element);
    }

    @Override
    public boolean offer(T element) {
        units.put(element, Truth.unit());
        return super.offer(element);
    }

    @Override
    public T take() throws InterruptedException {
        T element = super.take();
        Truth.enter(units.remove(element));
        return element;
    }
}
