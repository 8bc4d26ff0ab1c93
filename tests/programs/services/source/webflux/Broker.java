package quotes.broker;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.reactive.function.client.WebClient;
import reactor.core.publisher.Mono;
import truth.Truth;

@SpringBootApplication
@org.springframework.context.annotation.Import(truth.SpringTruth.class) // Truth.
class BrokerApplication {
  public static void main(String[] args) {
    SpringApplication.run(BrokerApplication.class, args);
  }
}

@RestController
class TradeController {
  private static final Logger LOG = LoggerFactory.getLogger(TradeController.class);
  private final WebClient market;

  TradeController(WebClient.Builder builder, @Value("${market.url}") String url) {
    this.market = builder.baseUrl(url).build();
  }

  @GetMapping("/buy/{share}")
  String buy(@PathVariable String share, @RequestParam int n) {
    LOG.info("Buying {} of {}", n, share);
    Integer price = market.get().uri("/prices/{share}", share)
        .header("X-T", Truth.get())
        .retrieve().bodyToMono(Integer.class).block();
    LOG.info("Price {}", price);
    if (n > 50) {
      LOG.warn("Too many");
      return "refused";
    }
    return market.post().uri(b -> b.path("/deals/{share}/{n}").build(share, n))
        .header("X-T", Truth.get())
        .retrieve().bodyToMono(String.class).onErrorResume(e -> Mono.just("failed")).block();
  }

  @PostMapping("/watch/{share}")
  String watch(@PathVariable String share) {
    LOG.info("Watching {}", share);
    market.put().uri("/watchers/" + share)
        .header("X-T", Truth.get())
        .retrieve().bodyToMono(String.class).subscribe();
    return "watching";
  }
}
