package harness;

/**
 * The request that the current thread works for.
 *
 * A new thread inherits it; the traced pool, queues, sockets and store of this
 * package carry it wherever else work is handed over. It is never derived from
 * the text of a message.
 */
final class Truth {
    /** A thread that works for no request. */
    static final String NONE = "-";

    private static final InheritableThreadLocal<String> UNIT = new InheritableThreadLocal<String>() {
        @Override
        protected String initialValue() {
            return NONE;
        }
    };

    private Truth() {
    }

    static String unit() {
        return UNIT.get();
    }

    static void enter(String unit) {
        UNIT.set(unit);
    }
}
