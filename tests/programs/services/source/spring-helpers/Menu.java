package kitchen.menu;

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
class MenuApplication {
  public static void main(String[] args) {
    SpringApplication.run(MenuApplication.class, args);
  }
}

@RestController
class MenuController {
  private static final Logger log = LoggerFactory.getLogger(MenuController.class);
  private final Pantry pantry;

  MenuController(Pantry pantry) {
    this.pantry = pantry;
  }

  @GetMapping("/pairings/{one}/{other}")
  String pair(@PathVariable String one, @PathVariable String other) {
    log.info("Does {} go with {}", one, other);
    int left = pantry.grams(one);
    int right = pantry.grams(other);
    log.info("{} and {} grams", left, right);
    return left > 0 && right > 0 ? "yes" : "no";
  }

  @PostMapping("/dishes/{name}")
  String cook(@PathVariable String name, @RequestParam String with) {
    log.info("Cooking {}", name);
    String[] parts = with.split(",");
    if (pantry.grams(parts[0]) > 0 && pantry.grams(parts[1]) > 0 && pantry.grams(parts[2]) > 0 && pantry.grams("salt") > 0) {
      log.info("All is there for {}", name);
      pantry.take(parts[0]);
      log.info("{} is served", name);
      return "served";
    }
    log.warn("Something is missing for {}", name);
    return "missing";
  }
}

@Component
class Pantry {
  private final RestTemplate rest;
  private final String url;

  Pantry(RestTemplateBuilder builder, @Value("${pantry.url}") String url) {
    this.rest = builder.build();
    this.url = url;
  }

  int grams(String food) {
    return rest.getForObject(url + "/shelf/{food}", Integer.class, food);
  }

  void take(String food) {
    rest.delete(url + "/shelf/{food}", food);
  }
}
