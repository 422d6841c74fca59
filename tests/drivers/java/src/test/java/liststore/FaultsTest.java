package liststore;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.datastax.oss.driver.api.core.AllNodesFailedException;
import com.datastax.oss.driver.api.core.ConsistencyLevel;
import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.DriverTimeoutException;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.servererrors.ReadTimeoutException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Faults as a program meets them through the driver, and what it has sent, as the server tells. */
class FaultsTest {
  private static final String SELECT = "SELECT item FROM feat.clicks WHERE user = 'u1'";
  private static final String INSERT = "INSERT INTO feat.clicks (user, item) VALUES ('u1', 7)";

  private Server server;
  private CqlSession control;
  private CqlSession session;

  @BeforeEach
  void start() throws Exception {
    server = new Server("--clock", "manual");
    control = server.connectWithKeyspace();
    session = server.connect();
    control.execute("CREATE TABLE clicks (user text, item bigint, PRIMARY KEY (user, item))");
  }

  @AfterEach
  void stop() throws Exception {
    session.close();
    control.close();
    server.close();
  }

  private void arm(String action, String statement, int times) {
    control.execute(
        "INSERT INTO liststore.faults (name, op, tbl, times, action) VALUES ('f', '"
            + statement.split(" ")[0]
            + "', 'feat.clicks', "
            + times
            + ", '"
            + action
            + "')");
  }

  /** What the program sees, as the name of an error; of one of all nodes that of the node's. */
  private String seen(SimpleStatement statement) {
    try {
      session.execute(statement);
      return "its answer";
    } catch (AllNodesFailedException all) {
      return all.getAllErrors().values().iterator().next().get(0).getClass().getSimpleName();
    } catch (RuntimeException error) {
      return error.getClass().getSimpleName();
    }
  }

  /** With the driver's own retry policy: there is no other node to go to. */
  @ParameterizedTest
  @CsvSource({
    "read_timeout, SELECT, ReadTimeoutException",
    "write_timeout, INSERT, WriteTimeoutException",
    "unavailable, SELECT, UnavailableException",
    "overloaded, SELECT, OverloadedException",
    "server_error, SELECT, ServerError",
    "close_connection, SELECT, ClosedConnectionException",
    "delay 20ms, SELECT, its answer",
    "no_answer, SELECT, DriverTimeoutException",
  })
  void eachFaultIsSeenAsItself(String action, String op, String wanted) {
    SimpleStatement statement =
        SimpleStatement.newInstance(op.equals("SELECT") ? SELECT : INSERT)
            .setTimeout(Duration.ofMillis(action.equals("no_answer") ? 300 : 20_000));
    arm(action, op, 1);
    long start = System.nanoTime();
    assertEquals(wanted, seen(statement));
    if (action.startsWith("delay")) {
      assertEquals(true, System.nanoTime() - start >= 20_000_000L, "it was delayed");
    }
    assertEquals(
        List.of("1 0"),
        Server.rows(
            control.execute("SELECT hits, remaining FROM liststore.faults"),
            row -> row.getLong(0) + " " + row.getInt(1)));
    assertEquals(0, control.execute(SELECT).all().size(), "nothing was applied");
  }

  @Test
  void threeReadsTimeOutThenAllIsWell() {
    session.execute(INSERT);
    arm("read_timeout", SELECT, 3);
    SimpleStatement select =
        SimpleStatement.newInstance(SELECT).setConsistencyLevel(ConsistencyLevel.LOCAL_QUORUM);
    for (int turn = 0; turn < 3; ++turn) {
      ReadTimeoutException timeout =
          assertThrows(ReadTimeoutException.class, () -> session.execute(select));
      assertEquals(ConsistencyLevel.LOCAL_QUORUM, timeout.getConsistencyLevel());
      assertEquals(0, timeout.getReceived());
      assertEquals(1, timeout.getBlockFor());
    }
    assertEquals(7, session.execute(select).one().getLong(0));
  }

  @Test
  void whatTheServerHasForgottenIsPreparedAgain() {
    PreparedStatement select = session.prepare(SELECT);
    arm("unprepared", SELECT, 1);
    assertNull(session.execute(select.bind()).one());
  }

  @Test
  void theServerTellsWhatWasSent() {
    PreparedStatement insert =
        session.prepare("INSERT INTO feat.clicks (user, item) VALUES (?, ?)");
    control.execute("TRUNCATE liststore.requests");
    session.execute(
        insert.bind("it's", 7L).setConsistencyLevel(ConsistencyLevel.LOCAL_QUORUM).setPageSize(10));
    assertEquals(
        List.of("[op:'INSERT', consistency:'LOCAL_QUORUM', prepared:true, page_size:10,"
                + " values:['''it''''s''','7'], outcome:'ok']"),
        Server.rows(
            control.execute(
                "SELECT op, consistency, prepared, page_size, values, outcome"
                    + " FROM liststore.requests WHERE tbl = 'feat.clicks' ALLOW FILTERING"),
            row -> row.getFormattedContents()));
  }
}
