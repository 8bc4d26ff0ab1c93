package org.slf4j;

/** The part of the well-known logging interface that the sample uses. */
public interface Logger {
    String getName();

    boolean isDebugEnabled();

    void debug(String message);

    void debug(String format, Object first);

    void debug(String format, Object first, Object second);

    void debug(String format, Object... arguments);

    void debug(String message, Throwable cause);

    boolean isInfoEnabled();

    void info(String message);

    void info(String format, Object first);

    void info(String format, Object first, Object second);

    void info(String format, Object... arguments);

    void info(String message, Throwable cause);

    boolean isWarnEnabled();

    void warn(String message);

    void warn(String format, Object first);

    void warn(String format, Object first, Object second);

    void warn(String format, Object... arguments);

    void warn(String message, Throwable cause);

    boolean isErrorEnabled();

    void error(String message);

    void error(String format, Object first);

    void error(String format, Object first, Object second);

    void error(String format, Object... arguments);

    void error(String message, Throwable cause);
}
