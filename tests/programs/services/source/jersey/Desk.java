package clinic.desk;

import jakarta.ws.rs.GET;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.client.Client;
import jakarta.ws.rs.client.ClientBuilder;
import jakarta.ws.rs.client.Entity;
import jakarta.ws.rs.client.WebTarget;
import jakarta.ws.rs.core.Response;
import java.net.URI;
import java.util.concurrent.Executors;
import org.glassfish.jersey.jdkhttp.JdkHttpServerFactory;
import org.glassfish.jersey.server.ResourceConfig;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

@Path("/clinic/visits")
public class Desk {
  private static final Logger LOG = LoggerFactory.getLogger(Desk.class);
  static WebTarget records;

  @POST
  @Path("{patient}")
  public Response visit(@PathParam("patient") int patient, @QueryParam("reason") String reason) {
    LOG.info("Patient {} comes for {}", patient, reason);
    String history = records.path("patients").path(String.valueOf(patient)).request().get(String.class);
    LOG.info("History has {} entries", history);
    Response added = records.path("patients/{patient}/entries").resolveTemplate("patient", patient).request().post(Entity.text(reason));
    if (added.getStatus() >= 400) {
      LOG.warn("Entry of {} not written: {}", patient, added.getStatus());
      return Response.status(502).build();
    }
    LOG.info("Patient {} may sit down", patient);
    return Response.ok("sit").build();
  }

  @GET
  @Path("{patient}/bill")
  public String bill(@PathParam("patient") int patient) {
    LOG.info("Bill for patient {}", patient);
    String entries = records.path("patients/" + patient + "/costs").request().get(String.class);
    LOG.info("Costs {}", entries);
    return entries;
  }

  @GET
  @Path("{patient}")
  public String next(@PathParam("patient") int patient) {
    return records.path("patients").path("" + patient).request().get(String.class);
  }

  public static void main(String[] args) throws Exception {
    Client client = ClientBuilder.newClient();
    client.register(truth.JaxrsTruth.class); // Truth.
    records = client.target("http://127.0.0.1:" + args[1] + "/records");
    ResourceConfig config = new ResourceConfig(Desk.class);
    config.register(truth.JaxrsTruth.class); // Truth.
    var server = JdkHttpServerFactory.createHttpServer(URI.create("http://127.0.0.1:" + args[0] + "/"), config, false);
    server.setExecutor(Executors.newFixedThreadPool(8));
    server.start();
    LOG.info("Desk is open");
  }
}
