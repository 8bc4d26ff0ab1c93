package cinema.seats;

import static org.springframework.web.reactive.function.server.RequestPredicates.GET;
import static org.springframework.web.reactive.function.server.RouterFunctions.route;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.reactive.function.server.RouterFunction;
import org.springframework.web.reactive.function.server.ServerRequest;
import org.springframework.web.reactive.function.server.ServerResponse;
import reactor.core.publisher.Mono;

@SpringBootApplication
class SeatsApplication {
  private static final Logger log = LoggerFactory.getLogger(SeatsApplication.class);

  public static void main(String[] args) {
    SpringApplication.run(SeatsApplication.class, args);
  }

  @Bean
  RouterFunction<ServerResponse> routes() {
    return route(GET("/halls/{hall}/free"), this::free);
  }

  Mono<ServerResponse> free(ServerRequest request) {
    String hall = request.pathVariable("hall");
    log.info("Free seats of hall {} wanted", hall);
    return ServerResponse.ok().bodyValue(String.valueOf(Integer.parseInt(hall) * 7 % 31));
  }
}

@RestController
class SeatController {
  private static final Logger log = LoggerFactory.getLogger(SeatController.class);
  private final AtomicInteger taken = new AtomicInteger();

  @PutMapping("/halls/{hall}/seats/{seat}")
  Mono<String> take(@PathVariable("hall") String hall, @PathVariable("seat") String seat) {
    log.info("Seat {} in hall {}", seat, hall);
    return Mono.delay(Duration.ofMillis(3)).map(x -> {
      log.info("Seat is taken");
      return "s" + taken.incrementAndGet();
    });
  }
}
