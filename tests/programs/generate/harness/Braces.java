package truth;

/** A logger for both libraries that fill `{}`. */
public final class Braces implements org.slf4j.Logger, org.apache.logging.log4j.Logger {
  private final String name;

  public Braces(String name) {
    this.name = name;
  }

  public void info(String message) {
    Sink.write("INFO", name, message, null);
  }

  public void info(String format, Object value) {
    Sink.write("INFO", name, Words.fill(format, value), Words.thrown(format, value));
  }

  public void info(String format, Object first, Object second) {
    Sink.write("INFO", name, Words.fill(format, first, second), Words.thrown(format, first, second));
  }

  public void info(String format, Object... values) {
    Sink.write("INFO", name, Words.fill(format, values), Words.thrown(format, values));
  }

  public void info(String message, Throwable thrown) {
    Sink.write("INFO", name, message, thrown);
  }

  public void warn(String message) {
    Sink.write("WARN", name, message, null);
  }

  public void warn(String format, Object value) {
    Sink.write("WARN", name, Words.fill(format, value), Words.thrown(format, value));
  }

  public void warn(String format, Object first, Object second) {
    Sink.write("WARN", name, Words.fill(format, first, second), Words.thrown(format, first, second));
  }

  public void warn(String format, Object... values) {
    Sink.write("WARN", name, Words.fill(format, values), Words.thrown(format, values));
  }

  public void warn(String message, Throwable thrown) {
    Sink.write("WARN", name, message, thrown);
  }

  public void error(String message) {
    Sink.write("ERROR", name, message, null);
  }

  public void error(String format, Object value) {
    Sink.write("ERROR", name, Words.fill(format, value), Words.thrown(format, value));
  }

  public void error(String format, Object first, Object second) {
    Sink.write("ERROR", name, Words.fill(format, first, second), Words.thrown(format, first, second));
  }

  public void error(String format, Object... values) {
    Sink.write("ERROR", name, Words.fill(format, values), Words.thrown(format, values));
  }

  public void error(String message, Throwable thrown) {
    Sink.write("ERROR", name, message, thrown);
  }

  public void debug(String message) {
  }

  public void debug(String format, Object value) {
  }

  public void debug(String format, Object first, Object second) {
  }

  public void debug(String format, Object... values) {
  }

  public boolean isDebugEnabled() {
    return false;
  }
}
