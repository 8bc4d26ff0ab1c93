package weather.report;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import truth.Truth;

public class Report {
  private static final Logger LOG = LoggerFactory.getLogger(Report.class);
  private final HttpClient client = HttpClient.newHttpClient();
  private final String stations;

  Report(String stations) {
    this.stations = stations;
  }

  private HttpRequest request(String path) {
    HttpRequest.Builder builder = HttpRequest.newBuilder(URI.create(stations + path));
    builder.header("X-T", Truth.get());
    return builder.GET().build();
  }

  void report(HttpExchange exchange) throws IOException {
    Truth.set(exchange.getRequestHeaders().getFirst("X-T"));
    String town = exchange.getRequestURI().getPath().substring("/report/".length());
    LOG.info("Report for {}", town);
    try {
      HttpResponse<String> now = client.send(request("/now/" + town), HttpResponse.BodyHandlers.ofString());
      if (now.statusCode() != 200) {
        LOG.warn("Station is silent: {}", now.statusCode());
      } else {
        LOG.info("It has {} degrees", now.body());
      }
      reply(exchange, now.statusCode(), now.body());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  void compare(HttpExchange exchange) throws IOException {
    Truth.set(exchange.getRequestHeaders().getFirst("X-T"));
    String[] parts = exchange.getRequestURI().getPath().split("/");
    LOG.info("Comparing {} with {}", parts[2], parts[3]);
    CompletableFuture<HttpResponse<String>> one = client.sendAsync(request("/mean/" + parts[2]), HttpResponse.BodyHandlers.ofString());
    CompletableFuture<HttpResponse<String>> other = client.sendAsync(request("/mean/" + parts[3]), HttpResponse.BodyHandlers.ofString());
    String both = one.thenCombine(other, (a, b) -> a.body() + " and " + b.body()).join();
    LOG.info("Means are {}", both);
    reply(exchange, 200, both);
  }

  private static void reply(HttpExchange exchange, int status, String text) throws IOException {
    exchange.sendResponseHeaders(status, text.length());
    exchange.getResponseBody().write(text.getBytes());
    exchange.close();
  }

  public static void main(String[] args) throws IOException {
    Report report = new Report("http://127.0.0.1:" + args[1]);
    HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(args[0])), 0);
    server.createContext("/report/", report::report);
    server.createContext("/compare/", exchange -> report.compare(exchange));
    server.setExecutor(Executors.newFixedThreadPool(6));
    server.start();
  }
}
