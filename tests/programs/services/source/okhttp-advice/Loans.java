package library.loans;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import okhttp3.OkHttpClient;
import okhttp3.Request;
import okhttp3.Response;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.stereotype.Component;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.servlet.HandlerInterceptor;
import org.springframework.web.servlet.config.annotation.InterceptorRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;

@SpringBootApplication
class LoansApplication {
  public static void main(String[] args) {
    SpringApplication.run(LoansApplication.class, args);
  }
}

@Configuration
class Web implements WebMvcConfigurer {
  @Override
  public void addInterceptors(InterceptorRegistry registry) {
    registry.addInterceptor(new Desk());
  }
}

class Desk implements HandlerInterceptor {
  private static final Logger log = LoggerFactory.getLogger(Desk.class);

  @Override
  public boolean preHandle(HttpServletRequest request, HttpServletResponse response, Object handler) {
    log.info("At the desk");
    return true;
  }

  @Override
  public void afterCompletion(HttpServletRequest request, HttpServletResponse response, Object handler, Exception failure) {
    log.info("Served");
  }
}

@RestController
class LoanController {
  private static final Logger log = LoggerFactory.getLogger(LoanController.class);
  private final Members members;

  LoanController(Members members) {
    this.members = members;
  }

  @PostMapping("/loans/{member}")
  String lend(@PathVariable("member") int member, @RequestBody String book) throws IOException {
    log.info("Book {} for member {}", book, member);
    int fines = Integer.parseInt(members.get("/members/" + member + "/fines"));
    if (fines > 1) {
      log.info("{} fines are too many", fines);
      return "no";
    }
    members.put("/members/" + member + "/books", book);
    log.info("Lent");
    return "yes";
  }

  @GetMapping("/loans/{loan}")
  String find(@PathVariable("loan") int loan) {
    log.info("Loan {}", loan);
    return "" + loan;
  }

  @DeleteMapping("/loans/{loan}")
  String end(@PathVariable("loan") int loan) throws IOException {
    return members.get("/members/" + loan % 40 + "/fines");
  }
}

@Component
class Members {
  private final OkHttpClient client = new OkHttpClient();
  private final String url;

  Members(@Value("${members.url}") String url) {
    this.url = url;
  }

  String get(String path) throws IOException {
    return send(new Request.Builder().url(url + path).get());
  }

  String put(String path, String body) throws IOException {
    return send(new Request.Builder().url(url + path).put(okhttp3.RequestBody.create(body.getBytes())));
  }

  private String send(Request.Builder request) throws IOException {
    try (Response response = client.newCall(request.build()).execute()) {
      if (!response.isSuccessful()) {
        throw new IllegalStateException("answer " + response.code());
      }
      return response.body().string();
    }
  }
}

@RestControllerAdvice
class Troubles {
  private static final Logger log = LoggerFactory.getLogger(Troubles.class);

  @ExceptionHandler(IllegalStateException.class)
  ResponseEntity<String> failed(IllegalStateException e) {
    log.error("Failed: {}", e.getMessage());
    return ResponseEntity.status(HttpStatus.BAD_GATEWAY).body(e.getMessage());
  }
}
