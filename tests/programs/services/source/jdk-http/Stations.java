package weather.stations;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import truth.Truth;

public class Stations {
  static abstract class Station implements HttpHandler {
    static final Logger LOG = LoggerFactory.getLogger(Station.class);

    abstract int degrees(String town) throws IOException;

    @Override
    public void handle(HttpExchange exchange) throws IOException {
      Truth.set(exchange.getRequestHeaders().getFirst("X-T"));
      String path = exchange.getRequestURI().getPath();
      String text;
      int status = 200;
      try {
        text = "" + degrees(path.substring(path.lastIndexOf('/') + 1));
      } catch (IllegalStateException e) {
        LOG.error("Broken", e);
        text = "";
        status = 500;
      }
      exchange.sendResponseHeaders(status, text.isEmpty() ? -1 : text.length());
      exchange.getResponseBody().write(text.getBytes());
      exchange.close();
    }
  }

  static class Now extends Station {
    @Override
    int degrees(String town) {
      LOG.info("Thermometer of {}", town);
      int degrees = ThreadLocalRandom.current().nextInt(-3, 30);
      if (degrees < 0) {
        throw new IllegalStateException("frozen");
      }
      LOG.info("{} degrees", degrees);
      return degrees;
    }
  }

  static class Mean extends Station {
    @Override
    int degrees(String town) throws IOException {
      LOG.info("Mean of {}", town);
      try {
        Thread.sleep(ThreadLocalRandom.current().nextInt(8));
      } catch (InterruptedException e) {
        throw new IOException(e);
      }
      LOG.info("Mean computed");
      return town.length() * 3;
    }
  }

  public static void main(String[] args) throws IOException {
    HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(args[0])), 0);
    server.createContext("/now", new Now());
    server.createContext("/mean", new Mean());
    server.setExecutor(Executors.newCachedThreadPool());
    server.start();
  }
}
