package liststore;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.Row;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A driver that knows of shards opens a connection to each, and sends every request to the one that has its
 * partition.
 */
@Tag("shards")
class ShardsTest {
  /** As ScyllaDB's documents define it. */
  private static int shardOf(long token, int shards) {
    long biased = (token + Long.MIN_VALUE) << 12;
    // The upper half of an unsigned product.
    return (int) (Math.multiplyHigh(biased, shards) + ((biased >> 63) & shards));
  }

  private static Map<String, Integer> shardsOfConnections(CqlSession session) {
    Map<String, Integer> shards = new HashMap<>();
    for (Row row : session.execute("SELECT address, port, shard_id FROM system.clients")) {
      shards.put(
          row.getInetAddress("address").getHostAddress() + ":" + row.getInt("port"),
          row.getInt("shard_id"));
    }
    return shards;
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 3})
  void everyShardHasItsConnectionAndItsRequests(int count) throws Exception {
    try (Server server = new Server("--shards", String.valueOf(count));
        CqlSession session = server.connectWithKeyspace()) {
      // The pool fills in the background: its connections, and the one for schema and events.
      Map<String, Integer> connections = Map.of();
      long end = System.nanoTime() + 20_000_000_000L;
      while (connections.size() < count + 1) {
        assertTrue(System.nanoTime() < end, String.valueOf(connections));
        connections = shardsOfConnections(session);
      }
      assertEquals(count, new HashSet<>(connections.values()).size());

      session.execute("CREATE TABLE t (p int PRIMARY KEY, v int)");
      PreparedStatement insert = session.prepare("INSERT INTO t (p, v) VALUES (?, ?)");
      for (int p = 0; p < 100; ++p) session.execute(insert.bind(p, p * p));
      Map<String, Integer> wanted = new HashMap<>();
      for (Row row : session.execute("SELECT p, token(p) FROM t")) {
        wanted.put(String.valueOf(row.getInt(0)), shardOf(row.getLong(1), count));
      }
      assertEquals(100, wanted.size());
      Map<String, Integer> sent = new HashMap<>();
      for (Row row :
          session.execute(
              "SELECT key, client FROM liststore.requests"
                  + " WHERE tbl = 'feat.t' AND op = 'INSERT' ALLOW FILTERING")) {
        sent.put(row.getString(0), connections.get(row.getString(1)));
      }
      assertEquals(wanted, sent);
    }
  }
}
