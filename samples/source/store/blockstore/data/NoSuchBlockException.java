package blockstore.data;

import java.io.IOException;

/** A node was asked for a block it does not hold. */
public class NoSuchBlockException extends IOException {
    private static final long serialVersionUID = 1L;

    public NoSuchBlockException(String message) {
        super(message);
    }
}
