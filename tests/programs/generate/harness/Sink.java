package truth;

import java.io.BufferedWriter;
import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.text.SimpleDateFormat;
import java.util.Date;

/**
 * Writes each record as `%d{ISO8601} %p %c: %m%n` would, the same with `[%t]` into a second file,
 * and one row of the truth.
 */
public final class Sink {
  private static final String FOLDER = System.getProperty("truth.folder");
  private static final String NODE = System.getProperty("truth.node");
  private static final String APP = System.getProperty("truth.app");
  private static final String WRAPPER = APP + System.getProperty("truth.wrapper", "-");
  private static final SimpleDateFormat TIME = new SimpleDateFormat("yyyy-MM-dd HH:mm:ss,SSS");
  private static final Writer PLAIN = open("plain", ".log");
  private static final Writer THREADS = open("threads", ".log");
  private static final Writer TRUTH = open("truth", ".tsv");
  private static final long PID = ProcessHandle.current().pid();
  private static long line = 1;
  /** When the last record was written; 0: none was. */
  static volatile long written;

  private Sink() {
  }

  private static Writer open(String folder, String ending) {
    try {
      File file = new File(new File(FOLDER, folder), NODE + ending);
      file.getParentFile().mkdirs();
      return new BufferedWriter(Files.newBufferedWriter(Path.of(file.getPath()), StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private static String at(StackTraceElement frame) {
    return frame.getClassName() + "." + frame.getMethodName() + ":" + frame.getLineNumber();
  }

  private static String trace(Throwable thrown) {
    if (thrown == null) {
      return "";
    }
    StringWriter text = new StringWriter();
    thrown.printStackTrace(new PrintWriter(text));
    StringBuilder kept = new StringBuilder();
    for (String row : text.toString().split("\r?\n")) {
      if (!row.contains("at truth.")) {
        kept.append(row).append('\n');
      }
    }
    return kept.toString();
  }

  public static synchronized void write(String level, String logger, String message, Throwable thrown) {
    StackTraceElement point = null;
    StackTraceElement site = null;
    for (StackTraceElement frame : new Throwable().getStackTrace()) {
      if (!frame.getClassName().startsWith(APP)) {
        continue;
      }
      point = point == null ? frame : point;
      if (!frame.getClassName().equals(WRAPPER)) {
        site = frame;
        break;
      }
    }
    String time = TIME.format(new Date());
    String rest = logger + ": " + message + "\n" + trace(thrown);
    int lines = (int) rest.chars().filter(c -> c == '\n').count();
    String[] unit = Truth.get().split("\t");
    String op = unit[unit.length - 1];
    boolean claims = !unit[0].isEmpty();
    String thread = Thread.currentThread().getName();
    try {
      PLAIN.write(time + " " + level + " " + rest);
      THREADS.write(time + " " + level + " [" + thread + "] " + rest);
      TRUTH.write(String.join("\t", NODE, "" + line, "" + lines, PID + "." + Thread.currentThread().getId(),
          at(point), level, claims ? unit[0] : "-", claims ? op : "?", at(site)) + "\n");
      PLAIN.flush();
      THREADS.flush();
      TRUTH.flush();
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
    line += lines;
    written = System.nanoTime();
  }
}
