package truth;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import org.springframework.boot.web.client.RestTemplateCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.core.task.TaskDecorator;
import org.springframework.http.client.ClientHttpRequestInterceptor;
import org.springframework.web.filter.OncePerRequestFilter;

/** Takes the unit over Spring MVC, RestTemplate and task executors. */
@Configuration(proxyBeanMethods = false)
public class SpringTruth {
  @Order(Ordered.HIGHEST_PRECEDENCE)
  static class In extends OncePerRequestFilter {
    @Override protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain) throws ServletException, IOException {
      Truth.set(request.getHeader(Truth.HEADER));
      chain.doFilter(request, response);
    }
  }

  @Bean In truthIn() { return new In(); }

  public static ClientHttpRequestInterceptor out() {
    return (request, body, execution) -> { request.getHeaders().add(Truth.HEADER, Truth.get()); return execution.execute(request, body); };
  }

  @Bean RestTemplateCustomizer truthOut() { return rest -> rest.getInterceptors().add(out()); }

  @Bean TaskDecorator truthTasks() {
    return task -> { String unit = Truth.get(); return () -> { Truth.set(unit); task.run(); }; };
  }
}
