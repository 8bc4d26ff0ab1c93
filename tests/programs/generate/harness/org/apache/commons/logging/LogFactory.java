package org.apache.commons.logging;

import truth.Objects;

/** Stand-in for the logging library's factory. */
public final class LogFactory {
  private LogFactory() {
  }

  public static Log getLog(Class<?> type) {
    return new Objects(type.getName());
  }
}
