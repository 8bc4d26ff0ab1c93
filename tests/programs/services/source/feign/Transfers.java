package bank.transfers;

import feign.FeignException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.cloud.openfeign.EnableFeignClients;
import org.springframework.cloud.openfeign.FeignClient;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.stereotype.Service;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

@SpringBootApplication
@EnableFeignClients
@org.springframework.context.annotation.Import({truth.SpringTruth.class, truth.FeignTruth.class}) // Truth.
class TransfersApplication {
  public static void main(String[] args) {
    SpringApplication.run(TransfersApplication.class, args);
  }
}

@FeignClient(name = "accounts", url = "${accounts.url}", path = "/accounts")
interface AccountsClient {
  @GetMapping("/{id}")
  long balance(@PathVariable("id") int id);

  @PostMapping("/{id}/take")
  String take(@PathVariable("id") int id, @RequestParam("cents") long cents);

  @PostMapping("/{id}/give")
  String give(@PathVariable("id") int id, @RequestParam("cents") long cents);
}

@RestController
@RequestMapping("/transfers")
class TransferController {
  private static final Logger LOG = LoggerFactory.getLogger(TransferController.class);
  private final Ledger ledger;

  TransferController(Ledger ledger) {
    this.ledger = ledger;
  }

  @PostMapping("/{from}/{to}")
  ResponseEntity<String> transfer(@PathVariable int from, @PathVariable int to, @RequestParam long cents) {
    LOG.info("{} cents from {} to {}", cents, from, to);
    boolean done = ledger.move(from, to, cents);
    LOG.info("Transfer {}", done ? "done" : "refused");
    return ResponseEntity.status(done ? HttpStatus.OK : HttpStatus.CONFLICT).build();
  }

  @GetMapping("/balance/{account}")
  long balance(@PathVariable int account) {
    LOG.info("Balance of {} asked", account);
    return ledger.balance(account);
  }
}

@Service
class Ledger {
  private static final Logger LOG = LoggerFactory.getLogger(Ledger.class);
  private final AccountsClient accounts;

  Ledger(AccountsClient accounts) {
    this.accounts = accounts;
  }

  boolean move(int from, int to, long cents) {
    try {
      accounts.take(from, cents);
    } catch (FeignException.Conflict e) {
      LOG.warn("Account {} is empty", from);
      return false;
    }
    LOG.info("Taken");
    accounts.give(to, cents);
    return true;
  }

  long balance(int account) {
    return accounts.balance(account);
  }
}
