package bakery.oven;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.web.client.RestTemplateBuilder;
import org.springframework.jms.annotation.EnableJms;
import org.springframework.jms.annotation.JmsListener;
import org.springframework.stereotype.Component;
import org.springframework.web.client.RestTemplate;

@SpringBootApplication
@EnableJms
class OvenApplication {
  public static void main(String[] args) {
    SpringApplication.run(OvenApplication.class, args);
  }
}

@Component
class Baker {
  private static final Logger log = LoggerFactory.getLogger(Baker.class);
  private final RestTemplate rest;
  private final String flour;

  Baker(RestTemplateBuilder builder, @Value("${flour.url}") String flour) {
    this.rest = builder.build();
    this.flour = flour;
  }

  @JmsListener(destination = "breads")
  void bake(String kind) {
    log.info("Baking {}", kind);
    Integer grams = rest.postForObject(flour + "/flour/" + kind, null, Integer.class);
    log.info("Took {} g", grams);
  }
}
