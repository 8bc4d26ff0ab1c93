package travel.rail;

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
class RailApplication {
  public static void main(String[] args) {
    SpringApplication.run(RailApplication.class, args);
  }
}

@RestController
@RequestMapping("/lines/{town}")
class LineController {
  private static final Logger log = LoggerFactory.getLogger(LineController.class);
  private final AtomicInteger seats = new AtomicInteger();

  @PostMapping("seats")
  String seat(@PathVariable String town, @RequestBody String trip) throws InterruptedException {
    log.info("Seat to {} wanted", town);
    Thread.sleep(ThreadLocalRandom.current().nextInt(8));
    int n = seats.incrementAndGet();
    if (n % 6 == 0) {
      log.warn("Line is busy");
      throw new ResponseBusy();
    }
    log.info("Seat {} is free", n);
    return "" + n;
  }

  @ResponseStatus(HttpStatus.SERVICE_UNAVAILABLE)
  static class ResponseBusy extends RuntimeException { }
}
