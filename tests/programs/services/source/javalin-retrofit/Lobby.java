package game.lobby;

import io.javalin.Javalin;
import io.javalin.http.Context;
import java.io.IOException;
import okhttp3.OkHttpClient;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import retrofit2.Call;
import retrofit2.Response;
import retrofit2.Retrofit;
import retrofit2.converter.scalars.ScalarsConverterFactory;
import retrofit2.http.GET;
import retrofit2.http.PUT;
import retrofit2.http.Path;
import retrofit2.http.Query;
import truth.Truth;

public class Lobby {
  private static final Logger LOG = LoggerFactory.getLogger(Lobby.class);

  interface ScoresApi {
    @GET("players/{name}/rank")
    Call<String> rank(@Path("name") String name);

    @GET("best")
    Call<String> best(@Query("n") int n);

    @PUT("players/{name}/points/{points}")
    Call<String> add(@Path("name") String name, @Path("points") int points);
  }

  private final ScoresApi scores;

  Lobby(ScoresApi scores) {
    this.scores = scores;
  }

  void join(Context context) throws IOException {
    String name = context.pathParam("name");
    LOG.info("{} joins", name);
    Response<String> rank = scores.rank(name).execute();
    LOG.info("Rank {}", rank.body());
    context.result(rank.body());
  }

  void finish(Context context) throws IOException {
    int points = Integer.parseInt(context.queryParam("points"));
    LOG.info("{} finishes with {}", context.pathParam("name"), points);
    Response<String> added = scores.add(context.pathParam("name"), points).execute();
    if (!added.isSuccessful()) {
      LOG.warn("Points not counted: {}", added.code());
      context.status(500);
    }
  }

  public static void main(String[] args) {
    OkHttpClient.Builder client = new OkHttpClient.Builder();
    client.addInterceptor(chain -> chain.proceed(chain.request().newBuilder().header("X-T", Truth.get()).build()));
    Retrofit retrofit = new Retrofit.Builder().baseUrl("http://127.0.0.1:" + args[1] + "/").client(client.build()).addConverterFactory(ScalarsConverterFactory.create()).build();
    Lobby lobby = new Lobby(retrofit.create(ScoresApi.class));
    Javalin app = Javalin.create();
    app.before(context -> Truth.set(context.header("X-T")));
    app.post("/join/{name}", lobby::join);
    app.post("/finish/{name}", context -> lobby.finish(context));
    app.get("/top", context -> {
      LOG.info("Top players");
      context.result(lobby.scores.best(3).execute().body());
    });
    app.start(Integer.parseInt(args[0]));
  }
}
