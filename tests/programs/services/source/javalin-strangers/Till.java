package market.till;

import io.javalin.Javalin;
import io.javalin.http.Context;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import okhttp3.OkHttpClient;
import okhttp3.Request;
import okhttp3.Response;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import truth.Truth;

public class Till {
  private static final Logger LOG = LoggerFactory.getLogger(Till.class);
  private final OkHttpClient client = new OkHttpClient();
  private final Map<String, String> known = new ConcurrentHashMap<>();
  private final String points;

  Till(String points) {
    this.points = points;
  }

  String points(String customer) throws IOException {
    Request.Builder builder = new Request.Builder().url(points + "/points/" + customer);
    builder.header("X-T", Truth.get());
    try (Response response = client.newCall(builder.build()).execute()) {
      return response.body().string();
    }
  }

  void pay(Context context) throws IOException, InterruptedException {
    String customer = context.pathParam("customer");
    LOG.info("Customer {} pays", customer);
    String found = ThreadLocalRandom.current().nextInt(3) > 0 ? known.get(customer) : null;
    if (found == null) {
      found = points(customer);
      known.put(customer, found);
    } else {
      Thread.sleep(ThreadLocalRandom.current().nextInt(6));
    }
    LOG.info("Paid, {} points", found);
    context.result(found);
  }

  public static void main(String[] args) {
    Till till = new Till("http://127.0.0.1:" + args[1]);
    Javalin app = Javalin.create();
    app.before(context -> Truth.set(context.header("X-T")));
    app.post("/pay/{customer}", till::pay);
    app.start(Integer.parseInt(args[0]));
  }
}
