package liststore;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.AsyncResultSet;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.ResultSet;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.servererrors.AlreadyExistsException;
import com.datastax.oss.driver.api.core.servererrors.InvalidConfigurationInQueryException;
import com.datastax.oss.driver.api.core.servererrors.InvalidQueryException;
import com.datastax.oss.driver.api.core.servererrors.SyntaxError;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Paging, prepared statements, conditions, and what is refused. */
class StatementsTest {
  private Server server;
  private CqlSession session;

  @BeforeEach
  void start() throws Exception {
    server = new Server();
    session = server.connectWithKeyspace();
    session.execute("CREATE TABLE t (p int, c int, v int, PRIMARY KEY (p, c))");
  }

  @AfterEach
  void stop() throws Exception {
    session.close();
    assertEquals(0, server.stop());
  }

  private static List<String> formatted(ResultSet result) {
    return Server.rows(result, Row::getFormattedContents);
  }

  @Test
  void everyPageSizeGivesTheSameRows() {
    PreparedStatement insert = session.prepare("INSERT INTO t (p, c, v) VALUES (?, ?, ?)");
    List<CompletionStage<AsyncResultSet>> sent = new ArrayList<>();
    for (int i = 0; i < 5000; ++i) {
      sent.add(session.executeAsync(insert.bind(i % 7, i, i * 2)));
      if (sent.size() == 1000) {
        sent.forEach(one -> one.toCompletableFuture().join());
        sent.clear();
      }
    }
    SimpleStatement select = SimpleStatement.newInstance("SELECT p, c, v FROM t");
    List<String> whole = formatted(session.execute(select.setPageSize(5000)));
    assertEquals(5000, whole.size());
    for (int pageSize : new int[] {100, 999}) {
      assertEquals(whole, formatted(session.execute(select.setPageSize(pageSize))));
    }
    // By hand, as a service does that hands the state to its own client.
    SimpleStatement descending =
        SimpleStatement.newInstance("SELECT c FROM t WHERE p = 3 ORDER BY c DESC").setPageSize(100);
    List<Integer> found = new ArrayList<>();
    ByteBuffer state = null;
    do {
      ResultSet page = session.execute(descending.setPagingState(state));
      for (int left = page.getAvailableWithoutFetching(); left > 0; --left) {
        found.add(page.one().getInt(0));
      }
      state = page.getExecutionInfo().getPagingState();
    } while (state != null);
    List<Integer> wanted = new ArrayList<>();
    for (int i = 4999; i >= 0; --i) {
      if (i % 7 == 3) wanted.add(i);
    }
    assertEquals(wanted, found);
  }

  @Test
  void preparedStatementsArePreparedAgainAfterTheirTableChanged() {
    PreparedStatement insert = session.prepare("INSERT INTO t (p, c, v) VALUES (?, ?, ?)");
    assertEquals(List.of(0), insert.getPartitionKeyIndices());
    session.execute("DROP TABLE t");
    assertEquals(
        "unconfigured table t",
        assertThrows(InvalidQueryException.class, () -> session.execute(insert.bind(1, 2, 3)))
            .getMessage());
    session.execute("CREATE TABLE t (p int, c int, v int, PRIMARY KEY (p, c))");
    session.execute(insert.bind(1, 2, null));
    session.execute(insert.bind().setInt(0, 1).setInt(1, 3)); // v is unset
    List<Row> rows = session.execute("SELECT c, v FROM t").all();
    assertEquals(2, rows.size());
    for (Row row : rows) assertNull(row.getObject("v"));
  }

  @Test
  void namedValues() {
    session.execute(
        SimpleStatement.builder("INSERT INTO t (p, c, v) VALUES (:a, :b, :c)")
            .addNamedValue("c", 3)
            .addNamedValue("b", 2)
            .addNamedValue("a", 1)
            .build());
    assertEquals("[p:1, c:2, v:3]", session.execute("SELECT * FROM t").one().getFormattedContents());
  }

  @Test
  void conditionsTellWhetherTheyWereMet() {
    PreparedStatement insert =
        session.prepare("INSERT INTO t (p, c, v) VALUES (1, 1, ?) IF NOT EXISTS");
    assertTrue(session.execute(insert.bind(10)).wasApplied());
    ResultSet again = session.execute(insert.bind(11));
    assertFalse(again.wasApplied());
    assertEquals(10, again.one().getInt("v"));
    PreparedStatement update =
        session.prepare("UPDATE t SET v = ? WHERE p = 1 AND c = 1 IF v = ?");
    assertFalse(session.execute(update.bind(12, 9)).wasApplied());
    assertTrue(session.execute(update.bind(12, 10)).wasApplied());
    assertEquals(12, session.execute("SELECT v FROM t").one().getInt("v"));
    assertTrue(session.execute("DELETE FROM t WHERE p = 1 AND c = 1 IF EXISTS").wasApplied());
  }

  private <E extends Exception> void refused(Class<E> error, String words, String statement) {
    String message = assertThrows(error, () -> session.execute(statement)).getMessage();
    assertTrue(message.contains(words), () -> statement + ": " + message);
  }

  @Test
  void whatIsRefusedSaysWhy() {
    refused(SyntaxError.class, "line 1:", "SELEC * FROM t");
    refused(InvalidQueryException.class, "unconfigured table nothing", "SELECT * FROM nothing");
    refused(InvalidQueryException.class, "ALLOW FILTERING", "SELECT * FROM t WHERE v = 1");
    refused(InvalidConfigurationInQueryException.class, "other", "DROP KEYSPACE other");
    refused(AlreadyExistsException.class, "t", "CREATE TABLE t (p int PRIMARY KEY)");
    refused(
        InvalidQueryException.class,
        "instead: a batch that makes the further writes as well [LS-0004]",
        "CREATE TRIGGER w ON t USING 'org.example.Trigger'");
    refused(InvalidQueryException.class, "[LS-0017]", "SELECT * FROM t WHERE intAsBlob(p) = 0x01");
    assertEquals(
        List.of("['LS-0004':1]", "['LS-0017':1]"),
        Server.rows(
            session.execute("SELECT code, count FROM liststore.unsupported WHERE kind = 'refused'"),
            row -> "['" + row.getString(0) + "':" + row.getLong(1) + "]"));
  }

  @Test
  void aStrictServerFailsAtItsEnd() throws Exception {
    try (Server strict = new Server("--strict")) {
      try (CqlSession asking = strict.connect()) {
        assertThrows(InvalidQueryException.class, () -> asking.execute("CREATE TRIGGER x ON ks.t USING 'y'"));
      }
      assertEquals(3, strict.stop());
    }
  }
}
