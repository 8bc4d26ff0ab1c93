package blockstore.handover;

import java.io.IOException;

/** A place outside the processes where one leaves a value under a key and another takes it. */
public interface KeyedStore {
    void put(String key, byte[] value) throws IOException;

    /** Removes and returns the value; it must be there. */
    byte[] take(String key) throws IOException;

    /** The first key in order that begins with the prefix, or null. */
    String next(String prefix) throws IOException;
}
