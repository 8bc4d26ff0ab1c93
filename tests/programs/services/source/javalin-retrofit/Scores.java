package game.scores;

import io.javalin.Javalin;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import truth.Truth;

public class Scores {
  private static final Logger LOG = LoggerFactory.getLogger(Scores.class);
  private static final Map<String, Integer> POINTS = new ConcurrentHashMap<>();

  public static void main(String[] args) {
    Javalin app = Javalin.create();
    app.before(context -> Truth.set(context.header("X-T")));
    app.get("/players/{name}/rank", context -> {
      String name = context.pathParam("name");
      LOG.info("Rank of {}", name);
      int own = POINTS.getOrDefault(name, 0);
      long better = POINTS.values().stream().filter(points -> points > own).count();
      Thread.sleep(better);
      LOG.info("{} are better", better);
      context.result("" + (better + 1));
    });
    app.put("/players/{name}/points/{points}", context -> {
      int points = Integer.parseInt(context.pathParam("points"));
      LOG.info("{} points", points);
      if (points < 0) {
        throw new IllegalArgumentException("negative");
      }
      POINTS.merge(context.pathParam("name"), points, Integer::sum);
    });
    app.get("/best", context -> {
      LOG.info("Best {}", context.queryParam("n"));
      context.result(POINTS.toString());
    });
    app.exception(IllegalArgumentException.class, (e, context) -> {
      LOG.warn("Bad request: {}", e.getMessage());
      context.status(400);
    });
    app.start(Integer.parseInt(args[0]));
  }
}
