package truth;

import java.util.Arrays;

/**
 * usage: Start CLASS ARGS... Runs a program's main, waits until its threads have been silent for a
 * while, and leaves: 0 done, 3 a thread died, 4 main failed, 5 it took too long.
 */
public final class Start {
  private static final long SILENT_NS = 400_000_000L;
  private static final long LATEST_MS = 60_000L;

  private Start() {
  }

  public static void main(String[] args) throws Exception {
    Jul.begin();
    int[] code = {0};
    Thread.setDefaultUncaughtExceptionHandler((thread, thrown) -> {
      thrown.printStackTrace();
      code[0] = 3;
    });
    Thread watchdog = new Thread(() -> {
      try {
        Thread.sleep(LATEST_MS);
      } catch (InterruptedException e) {
        return;
      }
      Thread.getAllStackTraces().forEach((thread, stack) -> System.err.println(thread + " " + Arrays.toString(stack)));
      Runtime.getRuntime().halt(5);
    });
    watchdog.setDaemon(true);
    watchdog.start();
    try {
      String[] rest = Arrays.copyOfRange(args, 1, args.length);
      Class.forName(args[0]).getMethod("main", String[].class).invoke(null, (Object) rest);
    } catch (Throwable thrown) {
      thrown.printStackTrace();
      Runtime.getRuntime().halt(4);
    }
    while (Sink.written == 0 || System.nanoTime() - Sink.written < SILENT_NS) {
      Thread.sleep(10);
    }
    Runtime.getRuntime().halt(code[0]);
  }
}
