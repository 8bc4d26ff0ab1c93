package travel.broker;

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
import org.springframework.scheduling.annotation.*;
import org.springframework.stereotype.*;
import org.springframework.web.bind.annotation.*;
import org.springframework.web.client.*;

@SpringBootApplication
@org.springframework.context.annotation.Import(truth.SpringTruth.class) // Truth.
class BrokerApplication {
  public static void main(String[] args) {
    SpringApplication.run(BrokerApplication.class, args);
  }
}

@RestController
class BrokerController {
  private final RestTemplate rest;
  private final String rail;
  private final String hotel;

  BrokerController(RestTemplateBuilder builder, @Value("${rail.url}") String rail, @Value("${hotel.url}") String hotel) {
    this.rest = builder.build();
    this.rail = rail;
    this.hotel = hotel;
  }

  @GetMapping("/seats/{trip}")
  String seat(@PathVariable long trip, @RequestParam String to) {
    return rest.postForObject(rail + "/lines/" + to + "/seats", "trip " + trip, String.class);
  }

  @PutMapping("/stays/{town}/{nights}")
  String stay(@PathVariable String town, @PathVariable int nights) {
    Map<String, Object> values = Map.of("town", town, "nights", nights);
    rest.put(hotel + "/rooms/{town}/{nights}", null, values);
    return "ok";
  }
}
