package liststore;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.BatchStatement;
import com.datastax.oss.driver.api.core.cql.BatchStatementBuilder;
import com.datastax.oss.driver.api.core.cql.DefaultBatchType;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.servererrors.InvalidQueryException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The list model, by the statements that a service sends to ScyllaDB; TTLs under a moved clock. */
class ListsTest {
  private static final String FEATURE = "user#reading_history|v1";
  private static final long SECOND = 1_000_000_000L;
  private static final long NOW = 1_724_949_845_430_000_000L;

  private static ByteBuffer bytes(String text) {
    return ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
  }

  private static String text(ByteBuffer bytes) {
    return StandardCharsets.UTF_8.decode(bytes).toString();
  }

  /** A server with the table, and the statements, prepared once. An item is "nanoseconds value". */
  private static final class Lists implements AutoCloseable {
    final Server server;
    final CqlSession session;
    final PreparedStatement insert;
    final PreparedStatement select;
    final PreparedStatement byValue;

    Lists(String... arguments) throws Exception {
      server = new Server(arguments);
      session = server.connectWithKeyspace();
      session.execute(
          "CREATE TABLE list_items (feature_key text, entity_id text, item_key text, value blob,"
              + " PRIMARY KEY ((feature_key, entity_id), item_key))"
              + " WITH CLUSTERING ORDER BY (item_key DESC) AND default_time_to_live = 864000");
      session.execute(
          "CREATE INDEX list_items_by_value ON list_items((feature_key, entity_id), value)");
      insert =
          session.prepare(
              "INSERT INTO list_items (feature_key, entity_id, item_key, value)"
                  + " VALUES (?, ?, ?, ?) USING TTL ?");
      select =
          session.prepare(
              "SELECT value, item_key FROM list_items WHERE feature_key = ? AND entity_id = ?"
                  + " AND item_key >= ? ORDER BY item_key DESC LIMIT ?");
      byValue =
          session.prepare(
              "SELECT item_key FROM list_items"
                  + " WHERE feature_key = ? AND entity_id = ? AND value = ?");
    }

    void add(String entity, int ttl, List<String> items) {
      BatchStatementBuilder batch = BatchStatement.builder(DefaultBatchType.LOGGED);
      for (String item : items) {
        String value = item.substring(20);
        batch.addStatement(
            insert.bind(FEATURE, entity, item.substring(0, 19) + "#" + value, bytes(value), ttl));
      }
      session.execute(batch.build());
    }

    List<String> get(String entity, long minimum, int limit) {
      return Server.rows(
          session.execute(select.bind(FEATURE, entity, String.format("%019d", minimum), limit)),
          row -> row.getString("item_key").substring(0, 19) + " " + text(row.getByteBuffer("value")));
    }

    List<String> all(String entity) {
      return get(entity, 0, 100);
    }

    int removeValue(String entity, String value) {
      List<String> keys =
          Server.rows(
              session.execute(byValue.bind(FEATURE, entity, bytes(value))),
              row -> row.getString("item_key"));
      session.execute(
          session
              .prepare(
                  "DELETE FROM list_items WHERE feature_key = ? AND entity_id = ? AND item_key IN ?")
              .bind(FEATURE, entity, keys));
      return keys.size();
    }

    void advance(long seconds) {
      session.execute(
          "UPDATE liststore.clock SET advance_seconds = " + seconds + " WHERE key = 'clock'");
    }

    @Override
    public void close() throws Exception {
      session.close();
      server.close();
    }
  }

  private static String item(long at, String value) {
    return String.format("%019d %s", at, value);
  }

  @Test
  void itemsComeBackNewestFirst() throws Exception {
    try (Lists lists = new Lists()) {
      List<String> items = new ArrayList<>();
      for (int i = 0; i < 20; ++i) items.add(item(NOW + i * SECOND, "story-" + i));
      lists.add("alice", 1000, items.subList(10, 20));
      lists.add("alice", 1000, items.subList(0, 10));
      Collections.reverse(items);
      assertEquals(items, lists.all("alice"));
      assertEquals(items.subList(0, 3), lists.get("alice", 0, 3));
      assertEquals(items.subList(0, 5), lists.get("alice", NOW + 15 * SECOND, 100));
      assertEquals(List.of(), lists.all("bob"));
    }
  }

  @Test
  void aValueIsRemovedWhereverItIsAndAListWhole() throws Exception {
    try (Lists lists = new Lists("--shards", "2")) {
      List<String> items = new ArrayList<>();
      for (int i = 0; i < 50; ++i) {
        items.add(item(NOW + i * SECOND, i % 2 == 1 ? "again" : "once-" + i));
      }
      lists.add("alice", 1000, items);
      lists.add("bob", 1000, List.of(item(NOW, "again")));
      assertEquals(25, lists.removeValue("alice", "again"));
      assertEquals(25, lists.all("alice").size());
      assertTrue(lists.all("alice").stream().noneMatch(found -> found.endsWith(" again")));
      assertEquals(0, lists.removeValue("alice", "again"));
      lists.session.execute(
          lists
              .session
              .prepare("DELETE FROM list_items WHERE feature_key = ? AND entity_id = ?")
              .bind(FEATURE, "alice"));
      assertEquals(List.of(), lists.all("alice"));
      assertEquals(List.of(item(NOW, "again")), lists.all("bob"));
    }
  }

  @Test
  void aBatchIsAllOrNothing() throws Exception {
    try (Lists lists = new Lists()) {
      BatchStatement batch =
          BatchStatement.newInstance(
              DefaultBatchType.LOGGED,
              lists.insert.bind(FEATURE, "alice", "1", bytes("x"), 10),
              lists.insert.bind(FEATURE, "alice", "2", bytes("y"), -1));
      Exception refused =
          assertThrows(InvalidQueryException.class, () -> lists.session.execute(batch));
      assertTrue(refused.getMessage().contains("A TTL must be greater or equal to 0"));
      assertEquals(0, lists.session.execute("SELECT * FROM list_items").all().size());
    }
  }

  @Test
  void aTtlRunsOutWhenTheClockIsMoved() throws Exception {
    try (Lists lists = new Lists("--clock", "manual")) {
      lists.add("alice", 60, List.of(item(NOW, "short")));
      lists.add("alice", 3600, List.of(item(NOW + SECOND, "long")));
      lists.add("alice", 0, List.of(item(NOW + 2 * SECOND, "for ever")));
      lists.advance(59);
      assertEquals(
          List.of("for ever null", "long 3541", "short 1"),
          Server.rows(
              lists.session.execute("SELECT value, TTL(value) FROM list_items"),
              row -> text(row.getByteBuffer(0)) + " " + row.getObject(1)));
      lists.advance(1);
      assertEquals(2, lists.all("alice").size());
      lists.advance(30 * 86_400);
      assertEquals(List.of(item(NOW + 2 * SECOND, "for ever")), lists.all("alice"));
    }
  }
}
