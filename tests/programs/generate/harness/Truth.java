package truth;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * What a running program says about its work. Source lines that hold "Truth." are blanked before
 * app.jar is compiled, so app.jar knows nothing of this.
 */
public final class Truth {
  private static final ThreadLocal<String> CURRENT = new ThreadLocal<>();
  private static final Map<String, String> KEPT = new ConcurrentHashMap<>();
  private static final Map<String, Integer> USES = new HashMap<>();

  private Truth() {
  }

  /** This thread works on this unit from now on; `unit` or `unit TAB op`. */
  public static void set(String unit) {
    CURRENT.set(unit);
  }

  public static void clear() {
    CURRENT.remove();
  }

  public static String get() {
    String unit = CURRENT.get();
    return unit == null ? "" : unit;
  }

  /** What this thread works on goes over hand-over `hand` with the request of identifier `id`. */
  public static void keep(String hand, Object id) {
    KEPT.put(hand + " " + id, get());
  }

  /** The receiving end of `keep`. A hand-over that nobody kept is a fault of the generator. */
  public static void recall(String hand, Object id) {
    String unit = KEPT.get(hand + " " + id);
    if (unit == null) {
      throw new IllegalStateException("nothing was kept for " + hand + " " + id);
    }
    CURRENT.set(unit);
  }

  /** A fresh unit of this kind. */
  public static synchronized String next(String kind) {
    return kind + "#" + USES.merge(kind, 1, Integer::sum);
  }
}
