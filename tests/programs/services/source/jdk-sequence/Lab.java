package ward.lab;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import truth.Truth;

public class Lab {
  private static final Logger LOG = LoggerFactory.getLogger(Lab.class);

  static void blood(HttpExchange exchange) throws IOException {
    Truth.set(exchange.getRequestHeaders().getFirst("X-T"));
    LOG.info("Blood is looked at");
    pause(9);
    LOG.info("Blood is fine");
    reply(exchange, "fine");
  }

  static void pulse(HttpExchange exchange) throws IOException {
    Truth.set(exchange.getRequestHeaders().getFirst("X-T"));
    LOG.info("Pulse is counted");
    pause(5);
    LOG.info("Pulse is steady");
    reply(exchange, "steady");
  }

  private static void pause(int most) throws IOException {
    try {
      Thread.sleep(1 + ThreadLocalRandom.current().nextInt(most));
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
    server.createContext("/blood", Lab::blood);
    server.createContext("/pulse", Lab::pulse);
    server.setExecutor(Executors.newFixedThreadPool(12));
    server.start();
  }
}
