package clinic.records;

import jakarta.ws.rs.GET;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.ext.ExceptionMapper;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import org.glassfish.jersey.jdkhttp.JdkHttpServerFactory;
import org.glassfish.jersey.server.ResourceConfig;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

@Path("/records/patients/{id}")
public class Records {
  private static final Logger LOG = LoggerFactory.getLogger(Records.class);
  private static final Map<Integer, List<String>> ENTRIES = new ConcurrentHashMap<>();

  private static List<String> of(int id) {
    return ENTRIES.computeIfAbsent(id, i -> new CopyOnWriteArrayList<>());
  }

  @GET
  public String history(@PathParam("id") int id) throws InterruptedException {
    LOG.info("Reading record {}", id);
    Thread.sleep(id % 5);
    LOG.info("Record read");
    return "" + of(id).size();
  }

  @POST
  @Path("/entries")
  public Response add(@PathParam("id") int id, String reason) {
    LOG.info("Entry {} for record {}", reason, id);
    if (of(id).size() >= 4) {
      throw new Full();
    }
    of(id).add(reason);
    return Response.status(201).build();
  }

  @GET
  @Path("/costs")
  public String costs(@PathParam("id") int id) {
    int sum = of(id).stream().mapToInt(String::length).sum();
    LOG.info("Sum of {} is {}", id, sum);
    return "" + sum;
  }

  static class Full extends RuntimeException { }

  public static class FullMapper implements ExceptionMapper<Full> {
    private static final Logger LOG = LoggerFactory.getLogger(FullMapper.class);

    @Override
    public Response toResponse(Full full) {
      LOG.warn("Record is full");
      return Response.status(507).build();
    }
  }

  public static void main(String[] args) throws Exception {
    ResourceConfig config = new ResourceConfig(Records.class, FullMapper.class);
    config.register(truth.JaxrsTruth.class); // Truth.
    var server = JdkHttpServerFactory.createHttpServer(URI.create("http://127.0.0.1:" + args[0] + "/"), config, false);
    server.setExecutor(Executors.newFixedThreadPool(8));
    server.start();
    LOG.info("Records are open");
  }
}
