package cinema.tickets;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.stereotype.Service;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.reactive.function.client.WebClient;
import reactor.core.publisher.Mono;

@SpringBootApplication
class TicketsApplication {
  public static void main(String[] args) {
    SpringApplication.run(TicketsApplication.class, args);
  }
}

@RestController
class TicketController {
  private static final Logger log = LoggerFactory.getLogger(TicketController.class);
  private final SeatClient seats;

  TicketController(SeatClient seats) {
    this.seats = seats;
  }

  @PostMapping("/tickets/{hall}")
  Mono<String> buy(@PathVariable("hall") int hall, @RequestBody String name) {
    log.info("{} wants a ticket for hall {}", name, hall);
    return seats.free(hall).flatMap(free -> {
      if (free == 0) {
        log.warn("Hall {} is sold out", hall);
        return Mono.just("none");
      }
      log.info("{} seats are free", free);
      return seats.take(hall, free).doOnNext(seat -> log.info("{} has {}", name, seat));
    });
  }

  @GetMapping("/tickets/{number}")
  Mono<String> find(@PathVariable("number") int number) {
    log.info("Ticket {} is looked up", number);
    return Mono.just("t" + number);
  }

  @DeleteMapping("/tickets/{number}")
  Mono<String> giveBack(@PathVariable("number") int number) {
    log.info("Ticket {} comes back", number);
    return seats.free(number % 9).map(free -> {
      log.info("Now {} are free", free);
      return "ok";
    });
  }
}

@Service
class SeatClient {
  private final WebClient client;

  SeatClient(WebClient.Builder builder, @Value("${seats.url}") String url) {
    this.client = builder.baseUrl(url).build();
  }

  Mono<Integer> free(int hall) {
    return client.get().uri("/halls/{hall}/free", hall).retrieve().bodyToMono(String.class).map(Integer::parseInt);
  }

  Mono<String> take(int hall, int seat) {
    return client.put().uri("/halls/{hall}/seats/{seat}", hall, seat).retrieve().bodyToMono(String.class);
  }
}
