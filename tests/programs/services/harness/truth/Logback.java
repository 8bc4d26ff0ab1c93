package truth;

import ch.qos.logback.classic.PatternLayout;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.LoggingEvent;
import ch.qos.logback.core.AppenderBase;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.reflect.Field;
import java.time.Instant;

/** Writes each record in two layouts, and one row of truth beside it. */
public final class Logback extends AppenderBase<ILoggingEvent> {
  private static final String NODE = System.getProperty("truth.node");
  private static final String DIR = System.getProperty("truth.dir");
  private static final String APP = System.getProperty("truth.app");
  private static final long SKEW_MS = Long.getLong("truth.skew", 0);
  private final PatternLayout[] layouts = new PatternLayout[2];
  private final PrintStream[] logs = new PrintStream[2];
  private PrintStream truth;
  private long line = 1;

  @Override public void start() {
    String[][] kinds = {{"threads", System.getProperty("truth.threads")}, {"plain", "%d{ISO8601} %p %c: %m%n"}};
    try {
      for (int i = 0; i < 2; i++) {
        layouts[i] = new PatternLayout();
        layouts[i].setContext(getContext());
        layouts[i].setPattern(kinds[i][1] + "%ex{full,truth.}");
        layouts[i].start();
        logs[i] = new PrintStream(new FileOutputStream(DIR + "/" + kinds[i][0] + "/" + NODE + ".log"), false, "UTF-8");
      }
      truth = new PrintStream(new FileOutputStream(DIR + "/" + NODE + ".truth"), false, "UTF-8");
    } catch (IOException e) {
      throw new ExceptionInInitializerError(e);
    }
    bridge();
    super.start();
  }

  /** Where the library is there, `java.util.logging` is logged by logback too, as Spring Boot has it. */
  private static void bridge() {
    try {
      java.util.logging.LogManager.getLogManager().reset();
      Class.forName("org.slf4j.bridge.SLF4JBridgeHandler").getMethod("install").invoke(null);
    } catch (ReflectiveOperationException e) {
      return;
    }
  }

  /** The clock of this node is ahead. */
  private static void skew(ILoggingEvent event) {
    try {
      Field stamp = LoggingEvent.class.getDeclaredField("timeStamp");
      stamp.setAccessible(true);
      stamp.setLong(event, event.getTimeStamp() + SKEW_MS);
      Field instant = LoggingEvent.class.getDeclaredField("instant");
      instant.setAccessible(true);
      if (event.getInstant() != null) instant.set(event, event.getInstant().plusMillis(SKEW_MS));
    } catch (ReflectiveOperationException e) {
      throw new AssertionError(e);
    }
  }

  @Override protected void append(ILoggingEvent event) {
    if (SKEW_MS != 0) skew(event);
    StackTraceElement[] callers = event.getCallerData();
    String point = "-";
    if (callers.length > 0 && callers[0].getClassName().startsWith(APP)) {
      point = callers[0].getClassName() + "." + callers[0].getMethodName() + ":" + callers[0].getLineNumber();
    }
    long n = 0;
    for (int i = 0; i < 2; i++) {
      String text = layouts[i].doLayout(event);
      logs[i].print(text);
      logs[i].flush();
      n = text.chars().filter(c -> c == '\n').count();
    }
    String known = Truth.UNIT.get() == null ? event.getMDCPropertyMap().get("trace_id") : Truth.UNIT.get();
    String unit = known == null || known.isEmpty() ? "-" : known;
    truth.println(String.join("\t", NODE, "" + line, "" + n, ProcessHandle.current().pid() + "." + Thread.currentThread().getId(), point, event.getLevel().toString(), unit, unit.equals("-") ? "?" : unit));
    truth.flush();
    line += n;
  }
}
