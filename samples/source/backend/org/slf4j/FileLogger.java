package org.slf4j;

import harness.Record;

/** Hands each enabled message, with its arguments filled in, to the file of this process. */
final class FileLogger implements Logger {
    private final String name;

    FileLogger(String name) {
        this.name = name;
    }

    @Override
    public String getName() {
        return name;
    }

    @Override
    public boolean isDebugEnabled() {
        return false;
    }

    @Override
    public void debug(String message) {
    }

    @Override
    public void debug(String format, Object first) {
    }

    @Override
    public void debug(String format, Object first, Object second) {
    }

    @Override
    public void debug(String format, Object... arguments) {
    }

    @Override
    public void debug(String message, Throwable cause) {
    }

    @Override
    public boolean isInfoEnabled() {
        return true;
    }

    @Override
    public void info(String message) {
        print("INFO", message, null);
    }

    @Override
    public void info(String format, Object first) {
        print("INFO", format, null, first);
    }

    @Override
    public void info(String format, Object first, Object second) {
        print("INFO", format, null, first, second);
    }

    @Override
    public void info(String format, Object... arguments) {
        print("INFO", format, null, arguments);
    }

    @Override
    public void info(String message, Throwable cause) {
        print("INFO", message, cause);
    }

    @Override
    public boolean isWarnEnabled() {
        return true;
    }

    @Override
    public void warn(String message) {
        print("WARN", message, null);
    }

    @Override
    public void warn(String format, Object first) {
        print("WARN", format, null, first);
    }

    @Override
    public void warn(String format, Object first, Object second) {
        print("WARN", format, null, first, second);
    }

    @Override
    public void warn(String format, Object... arguments) {
        print("WARN", format, null, arguments);
    }

    @Override
    public void warn(String message, Throwable cause) {
        print("WARN", message, cause);
    }

    @Override
    public boolean isErrorEnabled() {
        return true;
    }

    @Override
    public void error(String message) {
        print("ERROR", message, null);
    }

    @Override
    public void error(String format, Object first) {
        print("ERROR", format, null, first);
    }

    @Override
    public void error(String format, Object first, Object second) {
        print("ERROR", format, null, first, second);
    }

    @Override
    public void error(String format, Object... arguments) {
        print("ERROR", format, null, arguments);
    }

    @Override
    public void error(String message, Throwable cause) {
        print("ERROR", message, cause);
    }

    private void print(String level, String format, Throwable cause, Object... arguments) {
        Record.print(level, name, fill(format, arguments), cause);
    }

    private static String fill(String format, Object[] arguments) {
        StringBuilder text = new StringBuilder();
        int from = 0;
        for (Object argument : arguments) {
            int hole = format.indexOf("{}", from);
            if (hole < 0) {
                break;
            }
            text.append(format, from, hole).append(argument);
            from = hole + 2;
        }
        return text.append(format, from, format.length()).toString();
    }
}
