package truth;

/** A logger for the library whose messages are objects. */
public final class Objects implements org.apache.commons.logging.Log {
  private final String name;

  public Objects(String name) {
    this.name = name;
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
