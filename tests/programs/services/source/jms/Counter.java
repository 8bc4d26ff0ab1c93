package bakery.counter;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.jms.core.JmsTemplate;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

@SpringBootApplication
class CounterApplication {
  public static void main(String[] args) {
    SpringApplication.run(CounterApplication.class, args);
  }
}

@RestController
class CounterController {
  private static final Logger log = LoggerFactory.getLogger(CounterController.class);
  private final JmsTemplate jms;

  CounterController(JmsTemplate jms) {
    this.jms = jms;
  }

  @PostMapping("/breads/{count}")
  String order(@PathVariable("count") int count, @RequestBody String kind) {
    log.info("{} breads wanted", count);
    jms.convertAndSend("breads", kind);
    log.info("Ordered");
    return "ok";
  }

  @GetMapping("/breads/{number}")
  String look(@PathVariable("number") int number) {
    log.info("Bread {} is looked at", number);
    return "bread";
  }
}
