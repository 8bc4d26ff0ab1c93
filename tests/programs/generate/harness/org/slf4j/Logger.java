package org.slf4j;

/** Stand-in for the logging library's interface: what generated programs call of it. */
public interface Logger {
  void info(String message);

  void info(String format, Object value);

  void info(String format, Object first, Object second);

  void info(String format, Object... values);

  void info(String message, Throwable thrown);

  void warn(String message);

  void warn(String format, Object value);

  void warn(String format, Object first, Object second);

  void warn(String format, Object... values);

  void warn(String message, Throwable thrown);

  void error(String message);

  void error(String format, Object value);

  void error(String format, Object first, Object second);

  void error(String format, Object... values);

  void error(String message, Throwable thrown);

  void debug(String message);

  void debug(String format, Object value);

  void debug(String format, Object first, Object second);

  void debug(String format, Object... values);

  boolean isDebugEnabled();
}
