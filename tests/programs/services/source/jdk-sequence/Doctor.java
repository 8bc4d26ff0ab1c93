package ward.doctor;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.concurrent.Executors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import truth.Truth;

public class Doctor {
  private static final Logger LOG = LoggerFactory.getLogger(Doctor.class);
  private final HttpClient client = HttpClient.newHttpClient();
  private final String lab;

  Doctor(String lab) {
    this.lab = lab;
  }

  private String get(String path) throws IOException {
    HttpRequest.Builder builder = HttpRequest.newBuilder(URI.create(lab + path));
    builder.header("X-T", Truth.get());
    try {
      return client.send(builder.GET().build(), HttpResponse.BodyHandlers.ofString()).body();
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
  }

  void round(HttpExchange exchange) throws IOException {
    Truth.set(exchange.getRequestHeaders().getFirst("X-T"));
    LOG.info("Round begins");
    String blood = get("/blood");
    String pulse = get("/pulse");
    LOG.info("Blood {}, pulse {}", blood, pulse);
    reply(exchange, blood);
  }

  void urgent(HttpExchange exchange) throws IOException {
    Truth.set(exchange.getRequestHeaders().getFirst("X-T"));
    LOG.info("Urgent case");
    String pulse = get("/pulse");
    String blood = get("/blood");
    get("/pulse");
    LOG.info("Pulse {} first, then blood {}", pulse, blood);
    reply(exchange, pulse);
  }

  private static void reply(HttpExchange exchange, String text) throws IOException {
    exchange.sendResponseHeaders(200, text.length());
    exchange.getResponseBody().write(text.getBytes());
    exchange.close();
  }

  public static void main(String[] args) throws IOException {
    Doctor doctor = new Doctor("http://127.0.0.1:" + args[1]);
    HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(args[0])), 0);
    server.createContext("/round", doctor::round);
    server.createContext("/urgent", doctor::urgent);
    server.setExecutor(Executors.newFixedThreadPool(8));
    server.start();
  }
}
