package kitchen.pantry;

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
class PantryApplication {
  public static void main(String[] args) {
    SpringApplication.run(PantryApplication.class, args);
  }
}

@RestController
@RequestMapping("/shelf")
class ShelfController {
  private static final Logger log = LoggerFactory.getLogger(ShelfController.class);

  @GetMapping("/{food}")
  int grams(@PathVariable String food) throws InterruptedException {
    log.info("Looking for {}", food);
    Thread.sleep(ThreadLocalRandom.current().nextInt(5));
    int grams = food.equals("leek") ? 0 : food.length() * 50;
    log.info("Found {} grams", grams);
    return grams;
  }

  @DeleteMapping("/{food}")
  void take(@PathVariable String food) {
    log.info("{} is taken", food);
  }
}
