package truth;

import jakarta.ws.rs.client.ClientRequestContext;
import jakarta.ws.rs.client.ClientRequestFilter;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.container.ContainerRequestFilter;

/** Takes the unit over JAX-RS servers and clients. */
public class JaxrsTruth implements ContainerRequestFilter, ClientRequestFilter {
  @Override public void filter(ContainerRequestContext request) { Truth.set(request.getHeaderString(Truth.HEADER)); }
  @Override public void filter(ClientRequestContext request) { request.getHeaders().putSingle(Truth.HEADER, Truth.get()); }
}
