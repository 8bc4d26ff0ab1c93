package truth;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Unseen callers: THREADS COUNT URL "METHOD PATH [BODY]"... In a path and a body stand {100+}, a number
 * that is counted from 100; {~9}, one below 9; {a|b}, a choice. The same bracket in one request is the same text.
 */
public final class Load {
  private static final AtomicInteger COUNT = new AtomicInteger();
  private static final Pattern BRACKET = Pattern.compile("\\{([^{}\":]*)\\}");

  private static String fill(String template, int n, Random random) {
    java.util.Map<String, String> known = new java.util.HashMap<>();
    Matcher m = BRACKET.matcher(template);
    return m.replaceAll(found -> known.computeIfAbsent(found.group(1), b -> {
      if (b.endsWith("+")) return "" + (Integer.parseInt(b.substring(0, b.length() - 1)) + n);
      if (b.startsWith("~")) return "" + random.nextInt(Integer.parseInt(b.substring(1)));
      String[] choices = b.split("\\|");
      return choices[random.nextInt(choices.length)];
    }));
  }

  public static void main(String[] args) throws Exception {
    int count = Integer.parseInt(args[1]);
    HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    Thread[] threads = new Thread[Integer.parseInt(args[0])];
    for (int i = 0; i < threads.length; i++) {
      Random random = new Random(i + 17);
      threads[i] = new Thread(() -> {
        for (int n = COUNT.getAndIncrement(); n < count; n = COUNT.getAndIncrement()) {
          String[] request = fill(args[3 + random.nextInt(args.length - 3)], n, random).split(" ", 3);
          String body = request.length > 2 ? request[2] : null;
          try {
            HttpRequest.Builder builder = HttpRequest.newBuilder(URI.create(args[2] + request[1])).header(Truth.HEADER, "r" + n);
            if (body != null) builder.header("Content-Type", body.startsWith("{") ? "application/json" : "text/plain");
            builder.method(request[0], body == null ? HttpRequest.BodyPublishers.noBody() : HttpRequest.BodyPublishers.ofString(body));
            client.send(builder.build(), HttpResponse.BodyHandlers.ofString());
            Thread.sleep(random.nextInt(25));
          } catch (Exception e) {
            System.err.println(request[0] + " " + request[1] + ": " + e);
          }
        }
      });
      threads[i].start();
    }
    for (Thread thread : threads) thread.join();
    System.exit(0);
  }
}
