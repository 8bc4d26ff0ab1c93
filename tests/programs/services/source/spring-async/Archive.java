package press.archive;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

@SpringBootApplication
@org.springframework.context.annotation.Import(truth.SpringTruth.class) // Truth.
class ArchiveApplication {
  public static void main(String[] args) {
    SpringApplication.run(ArchiveApplication.class, args);
  }
}

@RestController
class ShelfController {
  private static final Logger LOG = LoggerFactory.getLogger(ShelfController.class);
  private final Set<Integer> shelf = ConcurrentHashMap.newKeySet();

  @PutMapping("/store/{id}")
  void store(@PathVariable int id, @RequestBody String text) throws InterruptedException {
    LOG.info("On the shelf: {}", id);
    Thread.sleep(id % 4);
    shelf.add(id);
    LOG.info("Shelf holds {}", shelf.size());
  }

  @GetMapping("/topics/{topic}")
  int count(@PathVariable int topic) {
    LOG.info("Looking through the shelf");
    return (int) shelf.stream().filter(id -> id % 9 == topic).count();
  }

  @PostMapping("/tidy")
  String tidy() {
    LOG.info("Dust everywhere");
    return "dust";
  }
}
