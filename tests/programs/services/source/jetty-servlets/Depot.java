package depot.front;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.HttpURLConnection;
import java.net.URL;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.servlet.ServletContextHandler;
import org.eclipse.jetty.servlet.ServletHolder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import truth.Truth;

public class Depot {
  private static final Logger LOG = LoggerFactory.getLogger(Depot.class);

  static class ParcelServlet extends HttpServlet {
    private final String trucks;

    ParcelServlet(String trucks) {
      this.trucks = trucks;
    }

    @Override
    protected void doPost(HttpServletRequest request, HttpServletResponse response) throws IOException {
      Truth.set(request.getHeader("X-T"));
      String parcel = request.getPathInfo().substring(1);
      String kg = request.getParameter("kg");
      LOG.info("Parcel {} weighs {}", parcel, kg);
      String truck = ask("GET", "/trucks/free?kg=" + kg);
      if (truck == null) {
        LOG.warn("No truck for {}", kg);
        response.setStatus(503);
        return;
      }
      ask("PUT", "/trucks/" + truck + "/load");
      LOG.info("Parcel {} is on its way", parcel);
    }

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
      Truth.set(request.getHeader("X-T"));
      LOG.info("Where is{}", request.getPathInfo());
      response.getWriter().println(ask("GET", "/trucks/" + Math.abs(request.getPathInfo().hashCode() % 6)));
    }

    @Override
    protected void doDelete(HttpServletRequest request, HttpServletResponse response) throws IOException {
      Truth.set(request.getHeader("X-T"));
      LOG.info("Taken back");
    }

    private String ask(String verb, String path) throws IOException {
      HttpURLConnection connection = (HttpURLConnection) new URL(trucks + path).openConnection();
      connection.setRequestMethod(verb);
      connection.setRequestProperty("X-T", Truth.get());
      if (connection.getResponseCode() >= 400) {
        return null;
      }
      try (BufferedReader reader = new BufferedReader(new InputStreamReader(connection.getInputStream()))) {
        return reader.readLine();
      }
    }
  }

  public static void main(String[] args) throws Exception {
    Server server = new Server(Integer.parseInt(args[0]));
    ServletContextHandler context = new ServletContextHandler();
    context.addServlet(new ServletHolder(new ParcelServlet("http://127.0.0.1:" + args[1])), "/parcels/*");
    server.setHandler(context);
    server.start();
  }
}
