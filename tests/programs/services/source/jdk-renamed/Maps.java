package ride.maps;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import truth.Truth;

public class Maps {
  private static final Logger LOG = LoggerFactory.getLogger(Maps.class);

  private static String last(HttpExchange exchange) {
    Truth.set(exchange.getRequestHeaders().getFirst("X-T"));
    String path = exchange.getRequestURI().getPath();
    return path.substring(path.lastIndexOf('/') + 1);
  }

  static void town(HttpExchange exchange) throws IOException {
    String town = last(exchange);
    LOG.info("Measuring way to {}", town);
    pause(25);
    LOG.info("Way measured");
    reply(exchange, "" + town.length() * 40);
  }

  static void price(HttpExchange exchange) throws IOException {
    String code = last(exchange);
    pause(3);
    LOG.info("Price list {}", code);
    pause(20);
    reply(exchange, "" + code.hashCode() % 1000);
  }

  static void seat(HttpExchange exchange) throws IOException {
    String seat = last(exchange);
    LOG.info("Seat wanted for no. {}", seat);
    pause(25);
    LOG.info("Seat found");
    reply(exchange, "window");
  }

  private static void pause(int most) throws IOException {
    try {
      Thread.sleep(2 + ThreadLocalRandom.current().nextInt(most));
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
  }

  private static void reply(HttpExchange exchange, String text) throws IOException {
    exchange.sendResponseHeaders(200, text.length());
    exchange.getResponseBody().write(text.getBytes());
    exchange.close();
  }

  public static void main(String[] args) throws IOException {
    HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(args[0])), 0);
    server.createContext("/towns/", Maps::town);
    server.createContext("/prices/", Maps::price);
    server.createContext("/seats/", Maps::seat);
    server.setExecutor(Executors.newFixedThreadPool(24));
    server.start();
  }
}
