package mail.inbox;

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
class InboxApplication {
  public static void main(String[] args) {
    SpringApplication.run(InboxApplication.class, args);
  }
}

@RestController
@RequestMapping(path = "/mail/{user}")
class InboxController {
  private static final Logger LOG = LoggerFactory.getLogger(InboxController.class);
  private final Checks checks;

  InboxController(Checks checks) {
    this.checks = checks;
  }

  @PostMapping("/{number}")
  public ResponseEntity<String> deliver(@PathVariable String user, @PathVariable int number, @RequestBody String text) {
    LOG.info("Mail {} for {}", number, user);
    if (!checks.isClean(number, text)) {
      LOG.warn("Refused");
      return ResponseEntity.status(422).body("refused");
    }
    LOG.info("Delivered to {}", user);
    return ResponseEntity.ok("delivered");
  }
}

@Component
class Checks {
  private static final Logger LOG = LoggerFactory.getLogger(Checks.class);
  private final RestTemplate rest;
  private final String[] scanners;
  private final String spam;
  private final AtomicInteger next = new AtomicInteger();

  Checks(RestTemplateBuilder builder, @Value("${scan.urls}") String[] scanners, @Value("${spam.url}") String spam) {
    this.rest = builder.build();
    this.scanners = scanners;
    this.spam = spam;
  }

  private String scanner() {
    return scanners[next.getAndIncrement() % scanners.length];
  }

  boolean isClean(int number, String text) {
    LOG.info("Checking {} characters", text.length());
    String found = rest.postForObject(scanner() + "/check?number=" + number, text, String.class);
    LOG.info("Scanned: {}", found);
    return !"bad".equals(found) && rest.postForEntity(spam + "/rate", text, Integer.class).getBody() < 5;
  }
}
