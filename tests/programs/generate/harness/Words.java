package truth;

/** What the stand-ins for the logging libraries share. */
public final class Words {
  private Words() {
  }

  /** The `{}` of a format filled in. */
  public static String fill(String format, Object... values) {
    StringBuilder text = new StringBuilder();
    int from = 0;
    for (Object value : values) {
      int at = format.indexOf("{}", from);
      if (at < 0) {
        break;
      }
      text.append(format, from, at).append(value);
      from = at + 2;
    }
    return text.append(format.substring(from)).toString();
  }

  /** The exception that stands last without a place of its own. */
  public static Throwable thrown(String format, Object... values) {
    int places = 0;
    for (int at = format.indexOf("{}"); at >= 0; at = format.indexOf("{}", at + 2)) {
      places++;
    }
    boolean last = values.length > places && values[values.length - 1] instanceof Throwable;
    return last ? (Throwable) values[values.length - 1] : null;
  }
}
