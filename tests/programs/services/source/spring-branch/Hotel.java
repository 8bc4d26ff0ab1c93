package travel.hotel;

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
class HotelApplication {
  public static void main(String[] args) {
    SpringApplication.run(HotelApplication.class, args);
  }
}

@RestController
class RoomController {
  private static final Logger log = LoggerFactory.getLogger(RoomController.class);

  @PutMapping("/rooms/{town}/{nights}")
  void book(@PathVariable String town, @PathVariable int nights) {
    log.info("{} nights in {}", nights, town);
    if (nights > 2) {
      log.info("Long stay, breakfast is free");
    }
    log.info("Room booked");
  }
}
