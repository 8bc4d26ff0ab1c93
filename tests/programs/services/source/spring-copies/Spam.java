package mail.spam;

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
class SpamApplication {
  public static void main(String[] args) {
    SpringApplication.run(SpamApplication.class, args);
  }
}

@RestController
class SpamController {
  private static final Logger LOG = LoggerFactory.getLogger(SpamController.class);

  @RequestMapping(value = "/rate", method = RequestMethod.POST)
  int rate(@RequestBody String text) throws InterruptedException {
    LOG.info("Looking at {} characters", text.length());
    Thread.sleep(2);
    int points = text.contains("money") ? 9 : text.length() % 4;
    LOG.info("Done: {}", points);
    return points;
  }
}
