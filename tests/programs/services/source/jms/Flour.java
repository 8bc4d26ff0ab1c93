package bakery.flour;

import org.apache.activemq.broker.BrokerService;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

@SpringBootApplication(excludeName = "org.springframework.boot.autoconfigure.jms.activemq.ActiveMQAutoConfiguration")
class FlourApplication {
  public static void main(String[] args) {
    SpringApplication.run(FlourApplication.class, args);
  }

  @Bean(initMethod = "start", destroyMethod = "stop")
  BrokerService broker(@Value("${broker.port}") int port) throws Exception {
    BrokerService broker = new BrokerService();
    broker.setPersistent(false);
    broker.setUseJmx(false);
    broker.addConnector("tcp://127.0.0.1:" + port);
    return broker;
  }
}

@RestController
class FlourController {
  private static final Logger log = LoggerFactory.getLogger(FlourController.class);

  @PostMapping("/flour/{kind}")
  int take(@PathVariable("kind") String kind) {
    log.info("Flour of {} is weighed", kind);
    return kind.length();
  }
}
