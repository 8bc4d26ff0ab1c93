package blockstore.wire;

/** How a request ended. */
public enum Outcome {
    DONE, ABSENT, REFUSED
}
