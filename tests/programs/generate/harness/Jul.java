package truth;

import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogManager;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;

/** What the JDK's own logging writes to. */
final class Jul extends Handler {
  private static final SimpleFormatter FORMATTER = new SimpleFormatter();

  static void begin() {
    LogManager.getLogManager().reset();
    Logger root = Logger.getLogger("");
    root.setLevel(Level.INFO);
    root.addHandler(new Jul());
  }

  @Override
  public void publish(LogRecord record) {
    String app = System.getProperty("truth.app");
    if (!record.getLoggerName().startsWith(app)) {
      return;
    }
    Level level = record.getLevel();
    String name = level == Level.SEVERE ? "ERROR" : level == Level.WARNING ? "WARN" : "INFO";
    Sink.write(name, record.getLoggerName(), FORMATTER.formatMessage(record), record.getThrown());
  }

  @Override
  public void flush() {
  }

  @Override
  public void close() {
  }
}
