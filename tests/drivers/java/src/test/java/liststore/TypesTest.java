package liststore;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.data.CqlDuration;
import com.datastax.oss.driver.api.core.type.DataTypes;
import com.datastax.oss.driver.api.core.type.UserDefinedType;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Values there and back: every native type, frozen collections, tuples, user types, counters. */
class TypesTest {
  private Server server;
  private CqlSession session;
  private int tables = 0;

  @BeforeEach
  void start() throws Exception {
    server = new Server();
    session = server.connectWithKeyspace();
  }

  @AfterEach
  void stop() throws Exception {
    session.close();
    server.close();
  }

  /**
   * As regular column, null, and, when it is fit for that, as key. Each in a table of its own name: the
   * driver keeps what it has prepared by its text.
   */
  private void thereAndBack(String type, Object value, boolean isKey) {
    String table = "t" + tables++;
    session.execute("CREATE TABLE " + table + " (p int PRIMARY KEY, v " + type + ")");
    PreparedStatement insert = session.prepare("INSERT INTO " + table + " (p, v) VALUES (?, ?)");
    session.execute(insert.bind(1, value));
    session.execute(insert.bind(2, null));
    String select = "SELECT v FROM " + table + " WHERE p = ";
    assertEquals(value, session.execute(select + 1).one().getObject(0), type);
    assertTrue(session.execute(select + 2).one().isNull(0), type);
    if (!isKey) return;
    String keys = "k" + table;
    session.execute(
        "CREATE TABLE " + keys + " (p " + type + ", c " + type + ", PRIMARY KEY (p, c))");
    session.execute(
        session.prepare("INSERT INTO " + keys + " (p, c) VALUES (?, ?)").bind(value, value));
    assertEquals(
        value,
        session
            .execute(
                session
                    .prepare("SELECT c FROM " + keys + " WHERE p = ? AND c >= ?")
                    .bind(value, value))
            .one()
            .getObject(0),
        type);
  }

  @Test
  void everyNativeType() throws Exception {
    Map<String, Object> values = new LinkedHashMap<>();
    values.put("ascii", "plain");
    values.put("bigint", Long.MIN_VALUE);
    values.put("blob", ByteBuffer.wrap(new byte[] {0, (byte) 255}));
    values.put("boolean", true);
    values.put("date", LocalDate.of(2024, 2, 29));
    values.put("decimal", new BigDecimal("-123.45"));
    values.put("double", 1e300);
    values.put("float", 0.5f);
    values.put("inet", InetAddress.getByName("2001:db8::1"));
    values.put("int", Integer.MAX_VALUE);
    values.put("smallint", Short.MIN_VALUE);
    values.put("text", "größer\u2028");
    values.put("time", LocalTime.of(23, 59, 59, 999_999_999));
    values.put("timestamp", Instant.parse("2024-02-29T12:30:01.005Z"));
    values.put("timeuuid", UUID.fromString("c5e8f3d4-5c5e-11ef-9a1e-0242ac120002"));
    values.put("tinyint", Byte.MIN_VALUE);
    values.put("uuid", new UUID(-1, -1));
    values.put("varint", BigInteger.TWO.pow(200).negate());
    values.forEach((type, value) -> thereAndBack(type, value, true));
    thereAndBack("varchar", "", false);
    // As a clustering key it would be the same as -123.45, and come back as that.
    thereAndBack("decimal", new BigDecimal("-123.4500"), false);
    thereAndBack("duration", CqlDuration.newInstance(14, 3, 5_000_000_000L), false);
  }

  @Test
  void frozenCollectionsTuplesAndUserTypes() {
    thereAndBack("frozen<list<int>>", List.of(3, 1, 3), true);
    thereAndBack("frozen<set<text>>", Set.of("b", "a"), true);
    thereAndBack("frozen<map<text, frozen<list<int>>>>", Map.of("a", List.of(1, 2)), true);
    thereAndBack(
        "tuple<int, text>", DataTypes.tupleOf(DataTypes.INT, DataTypes.TEXT).newValue(1, null), true);
    session.execute("CREATE TYPE address (street text, number int)");
    UserDefinedType address =
        session.getMetadata().getKeyspace("feat").get().getUserDefinedType("address").get();
    thereAndBack("frozen<address>", address.newValue("x", 7), true);
    thereAndBack("frozen<list<frozen<address>>>", List.of(address.newValue("y", null)), false);
  }

  @Test
  void counters() {
    session.execute("CREATE TABLE n (p int PRIMARY KEY, a counter)");
    PreparedStatement add = session.prepare("UPDATE n SET a = a + ? WHERE p = 1");
    for (long i = 0; i < 10; ++i) session.execute(add.bind(i));
    assertEquals(45, session.execute("SELECT a FROM n").one().getLong("a"));
  }
}
