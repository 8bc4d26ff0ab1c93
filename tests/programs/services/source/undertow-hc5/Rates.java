package parcel.rates;

import io.undertow.Handlers;
import io.undertow.Undertow;
import io.undertow.server.HttpHandler;
import io.undertow.server.HttpServerExchange;
import io.undertow.server.handlers.BlockingHandler;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

public class Rates {
  private static final Logger log = LoggerFactory.getLogger(Rates.class);

  static class Book implements HttpHandler {
    @Override
    public void handleRequest(HttpServerExchange exchange) {
      log.info("Booked with {}", exchange.getQueryParameters().get("carrier").peek());
      exchange.getResponseSender().send("booked");
    }
  }

  static void rate(HttpServerExchange exchange) throws InterruptedException {
    String carrier = exchange.getQueryParameters().get("carrier").peek();
    log.info("Rate of {}", carrier);
    Thread.sleep(2);
    exchange.getResponseSender().send("" + carrier.length() * 7);
  }

  public static void main(String[] args) {
    HttpHandler routes = Handlers.routing().get("/rates/{carrier}", Rates::rate).put("/rates/{carrier}/booking", new Book());
    Undertow.builder().addHttpListener(Integer.parseInt(args[0]), "127.0.0.1").setHandler(new BlockingHandler(routes)).build().start();
  }
}
