import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import com.datastax.oss.driver.api.core.CqlSession;
import java.net.InetSocketAddress;
import java.time.Duration;
import liststore.testing.Liststore;
import liststore.testing.ListstoreServer;
import liststore.testing.ListstoreTest;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

@ListstoreTest
class ClicksTest {
  @Liststore static ListstoreServer server;
  static CqlSession session;

  @BeforeAll
  static void schema() {
    session = CqlSession.builder()
        .addContactPoint(new InetSocketAddress(server.getHost(), server.getPort()))
        .withLocalDatacenter(server.getDataCenter())
        .build();
    session.execute("CREATE KEYSPACE feat WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
    session.execute("CREATE TABLE feat.clicks (user text, ts int, item bigint, PRIMARY KEY (user, ts))");
  }

  @AfterAll
  static void close() {
    session.close();
  }

  @Test
  void clicksAreKeptForADay() {
    session.execute("INSERT INTO feat.clicks (user, ts, item) VALUES ('u1', 1, 7) USING TTL 86400");
    assertEquals(7, session.execute("SELECT item FROM feat.clicks WHERE user = 'u1'").one().getLong(0));
    server.clock().advance(Duration.ofDays(1));
    assertNull(session.execute("SELECT item FROM feat.clicks WHERE user = 'u1'").one());
  }
}
