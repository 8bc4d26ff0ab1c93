package travel.desk;

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
class DeskApplication {
  public static void main(String[] args) {
    SpringApplication.run(DeskApplication.class, args);
  }
}

@RestController
@RequestMapping("/trips")
class TripController {
  private static final Logger log = LoggerFactory.getLogger(TripController.class);
  private final AtomicLong ids = new AtomicLong(310);
  private final RestTemplate rest;
  private final String broker;

  TripController(RestTemplateBuilder builder, @Value("${broker.url}") String broker) {
    this.rest = builder.build();
    this.broker = broker;
  }

  @PostMapping
  String book(@RequestParam String to, @RequestParam int nights, @RequestParam int party) {
    long trip = ids.incrementAndGet();
    log.info("Trip {} to {} for {}", trip, to, party);
    for (int person = 1; person <= party; person++) {
      String seat = reserve(trip, to);
      log.info("Seat {}", seat);
    }
    if (nights > 0) {
      rest.exchange(broker + "/stays/" + to + "/" + nights, HttpMethod.PUT, HttpEntity.EMPTY, String.class);
    }
    log.info("Trip {} is complete", trip);
    return "trip " + trip;
  }

  private String reserve(long trip, String to) {
    for (int n = 1; ; n++) {
      try {
        return rest.getForObject(broker + "/seats/{trip}?to={to}", String.class, trip, to);
      } catch (HttpStatusCodeException e) {
        log.warn("No seat yet, try {}", n);
      }
    }
  }
}
