package store.items;

import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.web.client.RestTemplateBuilder;
import org.springframework.http.*;
import org.springframework.stereotype.*;
import org.springframework.web.bind.annotation.*;
import org.springframework.web.client.*;

@SpringBootApplication
@org.springframework.context.annotation.Import(truth.SpringTruth.class) // Truth.
class ItemsApplication {
  public static void main(String[] args) {
    SpringApplication.run(ItemsApplication.class, args);
  }
}

@RestController
@RequestMapping("/items")
class ItemController {
  private static final Logger log = LoggerFactory.getLogger(ItemController.class);

  @PostMapping("/{item}")
  String order(@PathVariable String item) throws InterruptedException {
    log.info("One is taken");
    Thread.sleep(ThreadLocalRandom.current().nextInt(6));
    log.info("Shelf is written");
    return "" + item.length();
  }

  @PostMapping("/reload")
  String reload() throws InterruptedException {
    log.info("Reading all");
    Thread.sleep(ThreadLocalRandom.current().nextInt(6));
    log.info("All are read");
    return "ok";
  }

  @PutMapping("/{item}")
  String put(@PathVariable String item) throws InterruptedException {
    log.info("One is back");
    Thread.sleep(ThreadLocalRandom.current().nextInt(4));
    return "ok";
  }

  @DeleteMapping("/locks")
  String unlock() {
    log.info("Locks are gone");
    return "ok";
  }
}
