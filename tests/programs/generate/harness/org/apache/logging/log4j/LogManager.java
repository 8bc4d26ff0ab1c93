package org.apache.logging.log4j;

import truth.Braces;

/** Stand-in for the logging library's factory. */
public final class LogManager {
  private LogManager() {
  }

  public static Logger getLogger(Class<?> type) {
    return new Braces(type.getName());
  }

  public static Logger getLogger(String name) {
    return new Braces(name);
  }
}
