package depot.trucks;

import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.EnumSet;
import java.util.concurrent.atomic.AtomicInteger;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.servlet.FilterHolder;
import org.eclipse.jetty.servlet.ServletContextHandler;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import truth.Truth;

public class Trucks {
  public static class Audit implements Filter {
    private static final Logger LOG = LoggerFactory.getLogger(Audit.class);

    @Override
    public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain) throws IOException, ServletException {
      HttpServletRequest http = (HttpServletRequest) request;
      Truth.set(http.getHeader("X-T"));
      LOG.info("{} {}", http.getMethod(), http.getRequestURI());
      chain.doFilter(request, response);
      LOG.info("Answered {}", ((HttpServletResponse) response).getStatus());
    }
  }

  public static class FreeServlet extends HttpServlet {
    private static final Logger LOG = LoggerFactory.getLogger(FreeServlet.class);
    private final AtomicInteger next = new AtomicInteger();

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
      int kg = Integer.parseInt(request.getParameter("kg"));
      if (kg > 30) {
        LOG.warn("{} kg is too much", kg);
        response.sendError(409);
        return;
      }
      int truck = next.getAndIncrement() % 6;
      LOG.info("Truck {} takes {} kg", truck, kg);
      response.getWriter().println(truck);
    }
  }

  public static class TruckServlet extends HttpServlet {
    private static final Logger LOG = LoggerFactory.getLogger(TruckServlet.class);

    @Override
    protected void doPut(HttpServletRequest request, HttpServletResponse response) throws IOException {
      LOG.info("Loading");
      response.getWriter().println("loaded");
    }

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
      LOG.info("Position asked");
      response.getWriter().println("on the road");
    }
  }

  public static void main(String[] args) throws Exception {
    Server server = new Server(Integer.parseInt(args[0]));
    ServletContextHandler context = new ServletContextHandler();
    context.addFilter(new FilterHolder(new Audit()), "/*", EnumSet.of(DispatcherType.REQUEST));
    context.addServlet(FreeServlet.class, "/trucks/free");
    context.addServlet(TruckServlet.class, "/trucks/*");
    server.setHandler(context);
    server.start();
  }
}
