package press.editor;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.web.client.RestTemplateBuilder;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Service;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.client.RestTemplate;
import truth.Truth;

@SpringBootApplication
@EnableAsync
@EnableScheduling
@org.springframework.context.annotation.Import(truth.SpringTruth.class) // Truth.
class EditorApplication {
  public static void main(String[] args) {
    SpringApplication.run(EditorApplication.class, args);
  }
}

@RestController
class ArticleController {
  private static final Logger LOG = LoggerFactory.getLogger(ArticleController.class);
  private final Archive archive;
  private final Executor executor;

  ArticleController(Archive archive, Executor applicationTaskExecutor) {
    this.archive = archive;
    this.executor = applicationTaskExecutor;
  }

  @PostMapping("/articles/{id}")
  String write(@PathVariable int id) {
    LOG.info("Article {} written", id);
    archive.store(id);
    return "written";
  }

  @GetMapping("/articles/{topic}/related")
  String related(@PathVariable int topic) {
    LOG.info("Related to topic {}", topic);
    CompletableFuture<Integer> old = CompletableFuture.supplyAsync(() -> archive.count(topic), executor);
    CompletableFuture<Integer> all = old.thenApply(n -> n + 1);
    int n = all.join();
    LOG.info("{} related", n);
    return "" + n;
  }
}

@Service
class Archive {
  private static final Logger LOG = LoggerFactory.getLogger(Archive.class);
  private final RestTemplate rest;
  private final String url;

  Archive(RestTemplateBuilder builder, @Value("${archive.url}") String url) {
    this.rest = builder.build();
    this.url = url;
  }

  @Async
  public void store(int id) {
    LOG.info("Storing article {}", id);
    rest.put(url + "/store/" + id, "text");
    LOG.info("Article {} stored", id);
  }

  int count(int topic) {
    LOG.info("Counting topic {}", topic);
    return rest.getForObject(url + "/topics/{topic}", Integer.class, topic);
  }

  @Scheduled(fixedDelay = 70)
  void tidy() {
    Truth.begin("tidy");
    LOG.info("Tidying up");
    String gone = rest.postForObject(url + "/tidy", null, String.class);
    LOG.info("{} gone", gone);
    Truth.clear();
  }
}
