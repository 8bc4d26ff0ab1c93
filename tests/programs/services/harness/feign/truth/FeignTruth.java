package truth;

import feign.RequestInterceptor;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Takes the unit over Feign. */
@Configuration(proxyBeanMethods = false)
public class FeignTruth {
  @Bean RequestInterceptor truthFeign() { return template -> template.header(Truth.HEADER, Truth.get()); }
}
