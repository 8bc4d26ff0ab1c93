package shop.stock;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

@SpringBootApplication
@org.springframework.context.annotation.Import(truth.SpringTruth.class) // Truth.
class StockApplication {
  public static void main(String[] args) {
    SpringApplication.run(StockApplication.class, args);
  }
}

@RestController
class StockController {
  private static final Logger log = LoggerFactory.getLogger(StockController.class);
  private final Map<String, AtomicInteger> shelves = new ConcurrentHashMap<>();
  private final Map<Long, String> reserved = new ConcurrentHashMap<>();

  private AtomicInteger shelf(String article) {
    return shelves.computeIfAbsent(article, a -> new AtomicInteger(40));
  }

  @GetMapping("/articles/{name}/count")
  int count(@PathVariable String name) throws InterruptedException {
    log.info("Counting");
    Thread.sleep(ThreadLocalRandom.current().nextInt(6));
    int n = shelf(name).get();
    log.info("Counted {}", n);
    return n;
  }

  @PostMapping("/reservations/{order}")
  String reserve(@PathVariable long order, @RequestBody String article) {
    log.info("Reserving for order {}", order);
    if (order % 11 == 0) {
      throw new IllegalStateException("Shelf of " + article + " is locked");
    }
    reserved.put(order, article);
    int left = shelf(article).decrementAndGet();
    log.info("One {} less: {}", article, left);
    return "ok";
  }

  @DeleteMapping("/reservations/{order}")
  void release(@PathVariable long order) {
    String article = reserved.remove(order);
    if (article == null) {
      log.info("Nothing to release");
      return;
    }
    shelf(article).incrementAndGet();
    log.info("Released {}", article);
  }
}
