package lib.shelf;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.RowMapper;
import org.springframework.stereotype.Repository;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

@SpringBootApplication
@org.springframework.context.annotation.Import(truth.SpringTruth.class) // Truth.
class ShelfApplication {
  public static void main(String[] args) {
    ((ch.qos.logback.classic.Logger) LoggerFactory.getLogger("org.springframework.jdbc")).setLevel(ch.qos.logback.classic.Level.DEBUG); // Truth.
    SpringApplication.run(ShelfApplication.class, args).getBean(Books.class).create();
  }
}

@RestController
class BookController {
  private static final Logger log = LoggerFactory.getLogger(BookController.class);
  private final Books books;

  BookController(Books books) {
    this.books = books;
  }

  @PostMapping("/books/{id}")
  String add(@PathVariable long id, @RequestBody String title) {
    log.info("New book {}", title);
    if (books.isThere(title)) {
      throw new IllegalStateException(title + " is there already");
    }
    books.put(id, title);
    log.info("Book {} is on the shelf", id);
    return "ok";
  }

  @GetMapping("/books/{title}")
  int find(@PathVariable String title) {
    List<Long> found = books.find(title);
    log.info("{} copies of {}", found.size(), title);
    return found.size();
  }

  @DeleteMapping("/books/{id}")
  void lose(@PathVariable long id) {
    log.info("Book {} is lost", id);
    if (!books.remove(id)) {
      throw new IllegalArgumentException("No book " + id);
    }
  }
}

@Repository
class Books {
  private static final Logger log = LoggerFactory.getLogger(Books.class);
  private final JdbcTemplate sql;

  Books(JdbcTemplate sql) {
    this.sql = sql;
  }

  void create() {
    sql.execute("create table book (id bigint, title varchar(80))");
  }

  private static void pause() {
    try {
      Thread.sleep(ThreadLocalRandom.current().nextInt(6));
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  boolean isThere(String title) {
    int n = sql.queryForObject("select count(*) from book where title = ?", Integer.class, title);
    pause();
    return n > 3;
  }

  void put(long id, String title) {
    log.info("Putting it there");
    sql.update("insert into book values (?, ?)", id, title);
    pause();
  }

  List<Long> find(String title) {
    return sql.query("select id from book where title = ?", new Row(), title);
  }

  boolean remove(long id) {
    pause();
    return sql.update("delete from book where id = ?", id) > 0;
  }
}

class Row implements RowMapper<Long> {
  private static final Logger log = LoggerFactory.getLogger(Row.class);

  @Override
  public Long mapRow(ResultSet row, int n) throws SQLException {
    log.info("Copy {}", row.getLong(1));
    return row.getLong(1);
  }
}
