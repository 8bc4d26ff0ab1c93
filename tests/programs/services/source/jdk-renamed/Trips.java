package ride.trips;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import truth.Truth;

public class Trips {
  private static final Logger LOG = LoggerFactory.getLogger(Trips.class);
  private static final Map<String, String> TARIFFS = Map.of("short", "A7", "day", "Q2", "week", "K5", "night", "Z9");
  private final HttpClient client = HttpClient.newHttpClient();
  private final AtomicInteger next = new AtomicInteger(4100);
  private final String maps;

  Trips(String maps) {
    this.maps = maps;
  }

  private String ask(String path) throws IOException {
    HttpRequest.Builder builder = HttpRequest.newBuilder(URI.create(maps + path));
    builder.header("X-T", Truth.get());
    try {
      return client.send(builder.GET().build(), HttpResponse.BodyHandlers.ofString()).body();
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
  }

  void route(HttpExchange exchange) throws IOException {
    Truth.set(exchange.getRequestHeaders().getFirst("X-T"));
    String town = exchange.getRequestURI().getPath().substring("/route/".length());
    LOG.info("Trip to {}", town);
    String km = ask("/towns/" + town.toLowerCase().replace(" ", ""));
    LOG.info("It is far: {} km", km);
    reply(exchange, km);
  }

  void fare(HttpExchange exchange) throws IOException {
    Truth.set(exchange.getRequestHeaders().getFirst("X-T"));
    String tariff = exchange.getRequestURI().getPath().substring("/fare/".length());
    LOG.info("Fare by {} tariff", tariff);
    String cents = ask("/prices/" + TARIFFS.get(tariff));
    LOG.info("Fare is known");
    reply(exchange, cents);
  }

  void book(HttpExchange exchange) throws IOException {
    Truth.set(exchange.getRequestHeaders().getFirst("X-T"));
    int seat = next.incrementAndGet();
    String booking = "B-" + seat + "/x";
    LOG.info("Booking {}", booking);
    String at = ask("/seats/" + seat);
    LOG.info("Seated {}", at);
    reply(exchange, at);
  }

  private static void reply(HttpExchange exchange, String text) throws IOException {
    exchange.sendResponseHeaders(200, text.length());
    exchange.getResponseBody().write(text.getBytes());
    exchange.close();
  }

  public static void main(String[] args) throws IOException {
    Trips trips = new Trips("http://127.0.0.1:" + args[1]);
    HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(args[0])), 0);
    server.createContext("/route/", trips::route);
    server.createContext("/fare/", trips::fare);
    server.createContext("/book", trips::book);
    server.setExecutor(Executors.newFixedThreadPool(16));
    server.start();
  }
}
