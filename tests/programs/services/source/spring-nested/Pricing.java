package shop.pricing;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.web.client.RestTemplateBuilder;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.client.RestTemplate;

@SpringBootApplication
@org.springframework.context.annotation.Import(truth.SpringTruth.class) // Truth.
class PricingApplication {
  public static void main(String[] args) {
    SpringApplication.run(PricingApplication.class, args);
  }
}

@RestController
class PriceController {
  private static final Logger log = LoggerFactory.getLogger(PriceController.class);
  private final RestTemplate rest;
  private final String stock;

  PriceController(RestTemplateBuilder builder, @Value("${stock.url}") String stock) {
    this.rest = builder.build();
    this.stock = stock;
  }

  @GetMapping("/prices/{article}")
  String price(@PathVariable("article") String article) {
    log.info("Price of {} wanted", article);
    int left = rest.getForObject(stock + "/articles/{name}/count", Integer.class, article);
    int cents = left < 20 ? 250 : 200;
    log.info("{} left, that is {} cents", left, cents);
    return cents + " cents";
  }
}
