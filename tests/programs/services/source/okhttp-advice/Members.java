package library.members;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.stereotype.Component;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.filter.OncePerRequestFilter;

@SpringBootApplication
class MembersApplication {
  public static void main(String[] args) {
    SpringApplication.run(MembersApplication.class, args);
  }
}

@Component
class AccessFilter extends OncePerRequestFilter {
  private static final Logger log = LoggerFactory.getLogger(AccessFilter.class);

  @Override
  protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain) throws ServletException, IOException {
    log.info("Request {}", request.getMethod());
    chain.doFilter(request, response);
    log.info("Status {}", response.getStatus());
  }
}

@RestController
class MemberController {
  private static final Logger log = LoggerFactory.getLogger(MemberController.class);

  @GetMapping("/members/{member}/fines")
  String fines(@PathVariable("member") int member) {
    if (member % 11 == 0) {
      throw new IllegalStateException("no such member");
    }
    log.info("Fines of {}", member);
    return "" + member % 3;
  }

  @PutMapping("/members/{member}/books")
  String lend(@PathVariable("member") int member) {
    log.info("One more book for {}", member);
    return "" + member;
  }
}

@RestControllerAdvice
class Failures {
  private static final Logger log = LoggerFactory.getLogger(Failures.class);

  @ExceptionHandler(IllegalStateException.class)
  ResponseEntity<String> refused(IllegalStateException e) {
    log.warn("Refused: {}", e.getMessage());
    return ResponseEntity.status(HttpStatus.CONFLICT).body(e.getMessage());
  }
}
