package club.gate;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonSerializer;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.annotation.JsonSerialize;
import java.io.IOException;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.core.convert.converter.Converter;
import org.springframework.security.authentication.AuthenticationManager;
import org.springframework.security.authentication.ProviderManager;
import org.springframework.security.authentication.UsernamePasswordAuthenticationToken;
import org.springframework.security.authentication.dao.DaoAuthenticationProvider;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.core.AuthenticationException;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetails;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.core.userdetails.UsernameNotFoundException;
import org.springframework.security.crypto.password.PasswordEncoder;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.stereotype.Component;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;
import org.thymeleaf.TemplateEngine;
import org.thymeleaf.context.Context;
import org.thymeleaf.context.ITemplateContext;
import org.thymeleaf.dialect.AbstractProcessorDialect;
import org.thymeleaf.engine.AttributeName;
import org.thymeleaf.model.IProcessableElementTag;
import org.thymeleaf.processor.IProcessor;
import org.thymeleaf.processor.element.AbstractAttributeTagProcessor;
import org.thymeleaf.processor.element.IElementTagStructureHandler;
import org.thymeleaf.templatemode.TemplateMode;
import org.thymeleaf.templateresolver.StringTemplateResolver;

@SpringBootApplication
@org.springframework.context.annotation.Import(truth.SpringTruth.class) // Truth.
class GateApplication {
  public static void main(String[] args) {
    SpringApplication.run(GateApplication.class, args);
  }

  @Bean
  SecurityFilterChain open(HttpSecurity http) throws Exception {
    http.csrf(csrf -> csrf.disable()).authorizeHttpRequests(all -> all.anyRequest().permitAll());
    return http.build();
  }

  @Bean
  AuthenticationManager members(MemberService members, Passwords passwords) {
    DaoAuthenticationProvider provider = new DaoAuthenticationProvider(passwords);
    provider.setUserDetailsService(members);
    return new ProviderManager(provider);
  }

  @Bean
  TemplateEngine cards() {
    TemplateEngine engine = new TemplateEngine();
    engine.setTemplateResolver(new StringTemplateResolver());
    engine.addDialect(new CardDialect());
    return engine;
  }
}

@RestController
class GateController {
  private static final Logger log = LoggerFactory.getLogger(GateController.class);
  private final AuthenticationManager members;
  private final TemplateEngine cards;
  private final ObjectMapper json;

  GateController(AuthenticationManager members, TemplateEngine cards, ObjectMapper json) {
    this.members = members;
    this.cards = cards;
    this.json = json;
  }

  @PostMapping("/entries/{name}")
  String enter(@PathVariable String name, @RequestBody String password) {
    log.info("{} is at the gate", name);
    try {
      members.authenticate(new UsernamePasswordAuthenticationToken(name, password));
    } catch (AuthenticationException e) {
      log.warn("{} may not enter: {}", name, e.getMessage());
      return "no";
    }
    log.info("{} has entered", name);
    return "yes";
  }

  @GetMapping("/cards/{name}")
  String card(@PathVariable String name) {
    log.info("Card of {}", name);
    String text = cards.process("<p club:seal=\"x\">card</p><i club:seal=\"y\"></i>", new Context(Locale.ROOT, Map.of("name", name)));
    log.info("The card has {} letters", text.length());
    return text;
  }

  @GetMapping("/bills/{sum}")
  Bill bill(@PathVariable Sum sum) throws JsonProcessingException {
    log.info("Bill over {}", sum.cents);
    String copy = json.writeValueAsString(new Bill(sum));
    log.info("Copy of {} letters is kept", copy.length());
    return new Bill(sum);
  }
}

@Component
class MemberService implements UserDetailsService {
  private static final Logger log = LoggerFactory.getLogger(MemberService.class);

  @Override
  public UserDetails loadUserByUsername(String name) {
    log.info("Looking for a member");
    Seal.pause();
    if (name.startsWith("x")) throw new UsernameNotFoundException(name);
    log.info("Member {} found", name);
    return User.withUsername(name).password("open").build();
  }
}

@Component
class Passwords implements PasswordEncoder {
  private static final Logger log = LoggerFactory.getLogger(Passwords.class);

  @Override
  public String encode(CharSequence raw) {
    return raw.toString();
  }

  @Override
  public boolean matches(CharSequence raw, String encoded) {
    log.info("Comparing passwords");
    Seal.pause();
    return encoded.contentEquals(raw);
  }
}

class CardDialect extends AbstractProcessorDialect {
  CardDialect() {
    super("club", "club", 1000);
  }

  @Override
  public java.util.Set<IProcessor> getProcessors(String prefix) {
    return java.util.Set.of(new Seal(prefix));
  }
}

class Seal extends AbstractAttributeTagProcessor {
  private static final Logger log = LoggerFactory.getLogger(Seal.class);

  Seal(String prefix) {
    super(TemplateMode.HTML, prefix, null, false, "seal", true, 1000, true);
  }

  static void pause() {
    try {
      Thread.sleep(ThreadLocalRandom.current().nextInt(5));
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  protected void doProcess(ITemplateContext context, IProcessableElementTag tag, AttributeName name, String value, IElementTagStructureHandler out) {
    log.info("Sealing {}", value);
    pause();
    out.setBody("*", false);
  }
}

@JsonSerialize(using = BillSerializer.class)
class Bill {
  final Sum sum;

  Bill(Sum sum) {
    this.sum = sum;
  }
}

class Sum {
  final long cents;

  Sum(long cents) {
    this.cents = cents;
  }
}

@Component
class SumConverter implements Converter<String, Sum> {
  private static final Logger log = LoggerFactory.getLogger(SumConverter.class);

  @Override
  public Sum convert(String text) {
    log.info("Reading a sum");
    return new Sum(Long.parseLong(text));
  }
}

class BillSerializer extends JsonSerializer<Bill> {
  private static final Logger log = LoggerFactory.getLogger(BillSerializer.class);

  @Override
  public void serialize(Bill bill, JsonGenerator out, SerializerProvider all) throws IOException {
    log.info("Writing a bill");
    Seal.pause();
    out.writeString("" + bill.sum.cents);
  }
}
