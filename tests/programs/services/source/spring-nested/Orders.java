package shop.orders;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.web.client.RestTemplateBuilder;
import org.springframework.context.annotation.Bean;
import org.springframework.http.HttpStatus;
import org.springframework.stereotype.Service;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.client.HttpServerErrorException;
import org.springframework.web.client.RestTemplate;

@SpringBootApplication
@org.springframework.context.annotation.Import(truth.SpringTruth.class) // Truth.
class OrdersApplication {
  public static void main(String[] args) {
    SpringApplication.run(OrdersApplication.class, args);
  }

  @Bean
  RestTemplate restTemplate(RestTemplateBuilder builder) {
    return builder.build();
  }
}

@RestController
@RequestMapping("/orders")
class OrderController {
  private static final Logger log = LoggerFactory.getLogger(OrderController.class);
  private final OrderService orders;

  OrderController(OrderService orders) {
    this.orders = orders;
  }

  @PostMapping("/{id}")
  String place(@PathVariable long id, @RequestBody String article) {
    log.info("New order {} of {}", id, article);
    String total = orders.place(id, article);
    log.info("Order {} placed for {}", id, total);
    return total;
  }

  @GetMapping("/{id}")
  String find(@PathVariable long id) {
    log.info("Order {} asked for", id);
    return orders.find(id);
  }

  @DeleteMapping("/{id}")
  @ResponseStatus(HttpStatus.NO_CONTENT)
  void cancel(@PathVariable long id) {
    log.info("Cancelling order {}", id);
    orders.cancel(id);
    log.info("Cancelled");
  }
}

@Service
class OrderService {
  private static final Logger log = LoggerFactory.getLogger(OrderService.class);
  private final RestTemplate rest;
  private final String pricing;
  private final String stock;
  private final Map<Long, String> placed = new ConcurrentHashMap<>();

  OrderService(RestTemplate rest, @Value("${pricing.url}") String pricing, @Value("${stock.url}") String stock) {
    this.rest = rest;
    this.pricing = pricing;
    this.stock = stock;
  }

  String place(long id, String article) {
    String price = rest.getForObject(pricing + "/prices/{article}", String.class, article);
    log.info("Price is {}", price);
    try {
      rest.postForObject(stock + "/reservations/" + id, article, String.class);
    } catch (HttpServerErrorException e) {
      log.warn("No reservation for order {}: {}", id, e.getStatusCode());
      throw e;
    }
    placed.put(id, article);
    return price;
  }

  String find(long id) {
    String article = placed.getOrDefault(id, "tea");
    return rest.getForObject(pricing + "/prices/" + article, String.class);
  }

  void cancel(long id) {
    placed.remove(id);
    rest.delete(stock + "/reservations/{order}", id);
  }
}
