package bank.accounts;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.bind.annotation.RestControllerAdvice;

@SpringBootApplication
@org.springframework.context.annotation.Import(truth.SpringTruth.class) // Truth.
class AccountsApplication {
  public static void main(String[] args) {
    SpringApplication.run(AccountsApplication.class, args);
  }
}

class EmptyException extends RuntimeException { }

@RestController
@RequestMapping("/accounts/{id}")
class AccountController {
  private static final Logger LOG = LoggerFactory.getLogger(AccountController.class);
  private final Map<Integer, AtomicLong> accounts = new ConcurrentHashMap<>();

  private AtomicLong account(int id) {
    return accounts.computeIfAbsent(id, i -> new AtomicLong(2000));
  }

  @GetMapping
  long balance(@PathVariable int id) {
    LOG.info("Account {} holds {}", id, account(id));
    return account(id).get();
  }

  @PostMapping("/take")
  String take(@PathVariable int id, @RequestParam long cents) {
    LOG.info("Taking {}", cents);
    if (account(id).get() < cents) {
      throw new EmptyException();
    }
    LOG.info("Account {} now {}", id, account(id).addAndGet(-cents));
    return "taken";
  }

  @PostMapping("/give")
  String give(@PathVariable int id, @RequestParam long cents) throws InterruptedException {
    LOG.info("Giving {}", cents);
    Thread.sleep(3);
    account(id).addAndGet(cents);
    return "given";
  }
}

@RestControllerAdvice
class Errors {
  private static final Logger LOG = LoggerFactory.getLogger(Errors.class);

  @ExceptionHandler(EmptyException.class)
  @ResponseStatus(HttpStatus.CONFLICT)
  void empty() {
    LOG.warn("Not enough");
  }
}
