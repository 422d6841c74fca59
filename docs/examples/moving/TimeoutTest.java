import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.servererrors.ReadTimeoutException;
import java.net.InetSocketAddress;
import liststore.testing.Fault;
import liststore.testing.Liststore;
import liststore.testing.ListstoreServer;
import liststore.testing.ListstoreTest;
import org.junit.jupiter.api.Test;

@ListstoreTest
class TimeoutTest {
  @Test
  void aReadThatTimesOutIsAskedAtLocalOne(@Liststore ListstoreServer server) {
    server.execute("CREATE KEYSPACE feat WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
    server.execute("CREATE TABLE feat.clicks (user text, ts int, item bigint, PRIMARY KEY (user, ts))");
    server.execute("INSERT INTO feat.clicks (user, ts, item) VALUES ('u1', 1, 7)");
    server.fault(Fault.of("read_timeout").op("SELECT").table("feat.clicks").times(1));
    try (CqlSession session = CqlSession.builder()
        .addContactPoint(new InetSocketAddress(server.getHost(), server.getPort()))
        .withLocalDatacenter(server.getDataCenter())
        .build()) {
      String select = "SELECT item FROM feat.clicks WHERE user = 'u1'";
      assertThrows(ReadTimeoutException.class, () -> session.execute(select));
      assertEquals(7, session.execute(select).one().getLong(0));
    }
    assertEquals("LOCAL_ONE", server.requests("SELECT", "feat.clicks").get(0).consistency());
    assertEquals("read_timeout", server.requests("SELECT", "feat.clicks").get(0).outcome());
  }
}
