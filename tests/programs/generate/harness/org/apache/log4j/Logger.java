package org.apache.log4j;

import truth.Sink;

/** Stand-in for the logging library's logger: what generated programs call of it. */
public class Logger {
  private final String name;

  protected Logger(String name) {
    this.name = name;
  }

  public static Logger getLogger(Class<?> type) {
    return new Logger(type.getName());
  }

  public static Logger getLogger(String name) {
    return new Logger(name);
  }

  public void info(Object message) {
    Sink.write("INFO", name, String.valueOf(message), null);
  }

  public void info(Object message, Throwable thrown) {
    Sink.write("INFO", name, String.valueOf(message), thrown);
  }

  public void warn(Object message) {
    Sink.write("WARN", name, String.valueOf(message), null);
  }

  public void warn(Object message, Throwable thrown) {
    Sink.write("WARN", name, String.valueOf(message), thrown);
  }

  public void error(Object message) {
    Sink.write("ERROR", name, String.valueOf(message), null);
  }

  public void error(Object message, Throwable thrown) {
    Sink.write("ERROR", name, String.valueOf(message), thrown);
  }

  public void debug(Object message) {
  }

  public boolean isDebugEnabled() {
    return false;
  }
}
