package truth;

import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/** What a running program says about its work: the unit that a thread works on. */
public final class Truth {
  public static final String HEADER = "X-T";
  static final ThreadLocal<String> UNIT = new ThreadLocal<>();
  private static final Map<Object, String> TAGS = Collections.synchronizedMap(new IdentityHashMap<>());
  private static final AtomicInteger NEXT = new AtomicInteger();

  private Truth() { }

  public static void set(String unit) { UNIT.set(unit); }
  public static String get() { return UNIT.get() == null ? "" : UNIT.get(); }
  public static void clear() { UNIT.remove(); }
  /** A unit that this process begins itself. */
  public static void begin(String name) { UNIT.set(name + "#" + NEXT.incrementAndGet()); }
  /** What is handed over is worked on for the unit of this thread. */
  public static <T> T attach(T task) { TAGS.put(task, get()); return task; }
  public static void resume(Object task) { set(TAGS.get(task)); }
}
