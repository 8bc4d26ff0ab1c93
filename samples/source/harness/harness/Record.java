package harness;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.time.LocalDateTime;
import java.time.format.DateTimeFormatter;

/**
 * Writes each record in the layout `%d{ISO8601} %p %c: %m%n` and, into a second
 * file, where it was printed and for which request.
 */
public final class Record {
    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss,SSSSSS");
    private static final String NODE = System.getProperty("sample.node", "client");
    private static final int MILLIS_LENGTH = "yyyy-MM-dd HH:mm:ss,SSS".length();
    private static final Writer LOG = open(NODE + ".log");
    private static final Writer TRUTH = open(NODE + ".truth");
    private static long line = 1;

    private Record() {
    }

    private static Writer open(String name) {
        Path file = Paths.get(System.getProperty("sample.folder", "."), name);
        try {
            return Files.newBufferedWriter(file, StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public static void print(String level, String logger, String message, Throwable cause) {
        StackWalker.StackFrame site = StackWalker.getInstance().walk(frames -> frames
                .filter(frame -> !isLogging(frame.getClassName()))
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("no call site")));
        StringBuilder tail = new StringBuilder(level + " " + logger + ": " + message + "\n");
        if (cause != null) {
            StringWriter trace = new StringWriter();
            cause.printStackTrace(new PrintWriter(trace, true));
            tail.append(trace.toString().replace("\r\n", "\n"));
        }
        try {
            write(tail.toString(), site, level);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static synchronized void write(String tail, StackWalker.StackFrame site, String level) throws IOException {
        String unit = Truth.unit();
        String op = unit.equals(Truth.NONE) ? NODE + ":process" : unit;
        long lines = tail.chars().filter(c -> c == '\n').count();
        String time = LocalDateTime.now().format(TIME);
        LOG.write(time.substring(0, MILLIS_LENGTH) + " " + tail);
        TRUTH.write(String.join("\t", NODE, "" + line, "" + lines, "" + Thread.currentThread().getId(),
                site.getClassName() + "." + site.getMethodName() + ":" + site.getLineNumber(),
                level, unit, op, time) + "\n");
        LOG.flush();
        TRUTH.flush();
        line += lines;
    }

    private static boolean isLogging(String type) {
        return type.startsWith("org.slf4j.") || type.equals(Record.class.getName());
    }
}
