package quotes.market;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.stereotype.Component;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.reactive.function.server.RouterFunction;
import org.springframework.web.reactive.function.server.RouterFunctions;
import org.springframework.web.reactive.function.server.ServerRequest;
import org.springframework.web.reactive.function.server.ServerResponse;
import reactor.core.publisher.Mono;
import truth.Truth;

@SpringBootApplication
class MarketApplication {
  public static void main(String[] args) {
    SpringApplication.run(MarketApplication.class, args);
  }

  @Bean
  RouterFunction<ServerResponse> routes(Deals deals) {
    return RouterFunctions.route()
        .POST("/deals/{share}/{n}", deals::deal)
        .PUT("/watchers/{share}", deals::watch)
        .build();
  }
}

@RestController
class PriceController {
  private static final Logger LOG = LoggerFactory.getLogger(PriceController.class);

  @GetMapping("/prices/{share}")
  Mono<Integer> price(
      @RequestHeader("X-T") String unit, // Truth.
      @PathVariable String share) {
    Truth.set(unit);
    LOG.info("Price of {}", share);
    int price = ThreadLocalRandom.current().nextInt(100, 200);
    return Mono.delay(Duration.ofMillis(price % 7)).map(tick -> {
      Truth.set(unit);
      LOG.info("It is {}", price);
      return price;
    });
  }
}

@Component
class Deals {
  private static final Logger LOG = LoggerFactory.getLogger(Deals.class);

  Mono<ServerResponse> deal(ServerRequest request) {
    Truth.set(request.headers().firstHeader("X-T"));
    LOG.info("Deal of {} {}", request.pathVariable("n"), request.pathVariable("share"));
    if (ThreadLocalRandom.current().nextInt(9) == 0) {
      LOG.warn("No seller");
      return ServerResponse.status(409).build();
    }
    return ServerResponse.ok().bodyValue("dealt");
  }

  Mono<ServerResponse> watch(ServerRequest request) {
    Truth.set(request.headers().firstHeader("X-T"));
    LOG.info("{} is watched", request.pathVariable("share"));
    return ServerResponse.ok().build();
  }
}
