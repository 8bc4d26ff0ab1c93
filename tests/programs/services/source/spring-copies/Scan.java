package mail.scan;

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
class ScanApplication {
  public static void main(String[] args) {
    SpringApplication.run(ScanApplication.class, args);
  }
}

@RestController
class ScanController {
  private static final Logger LOG = LoggerFactory.getLogger(ScanController.class);

  @PostMapping("/check")
  String check(@RequestBody String text, @RequestParam int number) throws InterruptedException {
    LOG.info("Looking at {} characters", text.length());
    Thread.sleep(text.length() % 7);
    boolean bad = number % 13 == 0;
    LOG.info("Done: {}", bad ? "bad" : "good");
    return bad ? "bad" : "good";
  }
}
