package store.office;

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
class OfficeApplication {
  public static void main(String[] args) {
    SpringApplication.run(OfficeApplication.class, args);
  }
}

@RestController
@RequestMapping("/office")
class OfficeController {
  private static final Logger log = LoggerFactory.getLogger(OfficeController.class);
  private final RestTemplate rest;
  private final String items;

  OfficeController(RestTemplateBuilder builder, @Value("${items.url}") String items) {
    this.rest = builder.build();
    this.items = items;
  }

  @PostMapping("/orders/{item}")
  String order(@PathVariable String item) {
    log.info("Ordering {}", item);
    String left = rest.postForObject(items + "/items/" + item, "one", String.class);
    log.info("Left: {}", left);
    return left;
  }

  @PostMapping("/season")
  String season() {
    log.info("New season");
    rest.postForObject(items + "/items/reload", "all", String.class);
    log.info("Season begins");
    return "begins";
  }

  @PostMapping("/returns/{item}")
  String back(@PathVariable String item) {
    log.info("Return of {}", item);
    send(HttpMethod.PUT, item);
    send(HttpMethod.DELETE, "locks");
    log.info("Return done");
    return "done";
  }

  private void send(HttpMethod verb, String what) {
    rest.exchange(items + "/items/" + what, verb, HttpEntity.EMPTY, String.class);
  }
}
