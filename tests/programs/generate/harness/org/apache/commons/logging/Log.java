package org.apache.commons.logging;

/** Stand-in for the logging library's interface: what generated programs call of it. */
public interface Log {
  void info(Object message);

  void info(Object message, Throwable thrown);

  void warn(Object message);

  void warn(Object message, Throwable thrown);

  void error(Object message);

  void error(Object message, Throwable thrown);

  void debug(Object message);

  boolean isDebugEnabled();
}
