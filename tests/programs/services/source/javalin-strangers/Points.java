package market.points;

import io.javalin.Javalin;
import io.javalin.http.Context;
import java.util.concurrent.ThreadLocalRandom;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import truth.Truth;

public class Points {
  private static final Logger LOG = LoggerFactory.getLogger(Points.class);

  static void points(Context context) throws InterruptedException {
    LOG.info("Points wanted");
    Thread.sleep(ThreadLocalRandom.current().nextInt(5));
    LOG.info("Points counted");
    context.result("" + 3 * Integer.parseInt(context.pathParam("customer")));
  }

  public static void main(String[] args) {
    Javalin app = Javalin.create();
    app.before(context -> Truth.set(context.header("X-T")));
    app.get("/points/{customer}", Points::points);
    app.start(Integer.parseInt(args[0]));
  }
}
