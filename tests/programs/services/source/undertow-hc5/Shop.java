package parcel.shop;

import io.undertow.Undertow;
import io.undertow.server.HttpServerExchange;
import io.undertow.server.RoutingHandler;
import io.undertow.server.handlers.BlockingHandler;
import java.io.IOException;
import org.apache.hc.client5.http.classic.methods.HttpGet;
import org.apache.hc.client5.http.classic.methods.HttpPut;
import org.apache.hc.client5.http.impl.classic.CloseableHttpClient;
import org.apache.hc.client5.http.impl.classic.HttpClients;
import org.apache.hc.core5.http.io.entity.EntityUtils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

public class Shop {
  private static final Logger log = LoggerFactory.getLogger(Shop.class);
  private static final String[] CARRIERS = {"swift", "ox", "heron"};
  private final CloseableHttpClient http = HttpClients.createDefault();
  private final String rates;

  Shop(String rates) {
    this.rates = rates;
  }

  int rate(String carrier) throws IOException {
    return http.execute(new HttpGet(rates + "/rates/" + carrier), answer -> Integer.parseInt(EntityUtils.toString(answer.getEntity())));
  }

  void quote(HttpServerExchange exchange) throws IOException {
    log.info("Quote for {} kg", exchange.getQueryParameters().get("kg").peek());
    int least = Integer.MAX_VALUE;
    for (String carrier : CARRIERS) {
      least = Math.min(least, rate(carrier));
    }
    log.info("The least is {}", least);
    exchange.getResponseSender().send("" + least);
  }

  void order(HttpServerExchange exchange) throws IOException {
    String order = exchange.getQueryParameters().get("order").peek();
    log.info("Order {}", order);
    HttpPut booking = new HttpPut(rates + "/rates/" + CARRIERS[order.length() % 3] + "/booking");
    http.execute(booking, answer -> {
      EntityUtils.consume(answer.getEntity());
      return null;
    });
    log.info("Order is on its way");
    exchange.getResponseSender().send("ok");
  }

  public static void main(String[] args) {
    Shop shop = new Shop("http://127.0.0.1:" + args[1]);
    RoutingHandler routes = new RoutingHandler();
    routes.get("/quotes/{kg}", shop::quote);
    routes.post("/orders/{order}", shop::order);
    routes.get("/orders/{order}", exchange -> {
      log.info("Where is it");
      exchange.getResponseSender().send("there");
    });
    Undertow.builder().addHttpListener(Integer.parseInt(args[0]), "127.0.0.1").setHandler(new BlockingHandler(routes)).build().start();
  }
}
