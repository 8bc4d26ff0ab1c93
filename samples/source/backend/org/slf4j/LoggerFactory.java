package org.slf4j;

/** Gives a logger for a class, named as the class. */
public final class LoggerFactory {
    private LoggerFactory() {
    }

    public static Logger getLogger(Class<?> owner) {
        return getLogger(owner.getName());
    }

    public static Logger getLogger(String name) {
        return new FileLogger(name);
    }
}
