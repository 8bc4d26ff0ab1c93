package post.parcels;

import java.util.concurrent.ThreadLocalRandom;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.stereotype.Service;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

@SpringBootApplication
@org.springframework.context.annotation.Import(truth.SpringTruth.class) // Truth.
class ParcelsApplication {
  public static void main(String[] args) {
    SpringApplication.run(ParcelsApplication.class, args);
  }
}

@RestController
class ParcelController {
  private static final Logger log = LoggerFactory.getLogger(ParcelController.class);
  private final Scale scale;
  private final Printer printer;

  ParcelController(Scale scale, Printer printer) {
    this.scale = scale;
    this.printer = printer;
  }

  /** All that it prints is printed in the turns of a loop. */
  @PostMapping("/batches/{id}")
  int pack(@PathVariable long id, @RequestBody String articles) {
    int total = 0;
    for (String article : articles.split(",")) {
      log.info("Packing {}", article);
      int grams = scale.weigh(article);
      if (grams > 800) {
        log.warn("Too heavy for one box");
        printer.print("HEAVY");
      }
      printer.print(article);
      total += grams;
      log.info("Packed {} of {} g", article, grams);
    }
    return total;
  }

  /** Tries again and again, from the start. */
  @PostMapping("/pickups/{id}")
  String pickUp(@PathVariable long id) {
    for (int i = 0; ; i++) {
      log.info("Calling a van for {}", id);
      Printer.pause(4);
      if (ThreadLocalRandom.current().nextInt(3) > 0 || i == 3) {
        log.info("A van comes");
        printer.print("van " + id);
        return "ok";
      }
      log.info("No van is free");
    }
  }

  @GetMapping("/labels/{article}")
  String label(@PathVariable String article) {
    log.info("Label of {} wanted", article);
    printer.print(article);
    return article;
  }
}

@Service
class Scale {
  private static final Logger log = LoggerFactory.getLogger(Scale.class);

  int weigh(String article) {
    log.info("Weighing");
    int sum = 0;
    for (int i = 0; i < 2; i++) {
      Printer.pause(3);
      int grams = 400 + ThreadLocalRandom.current().nextInt(450);
      log.info("Scale shows {}", grams);
      sum = Math.max(sum, grams);
    }
    return sum;
  }
}

@Service
class Printer {
  private static final Logger log = LoggerFactory.getLogger(Printer.class);

  static void pause(int most) {
    try {
      Thread.sleep(ThreadLocalRandom.current().nextInt(most));
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  void print(String text) {
    log.info("Printing");
    pause(5);
    log.info("Label {} printed", text);
  }
}
