package liststore;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.datastax.oss.driver.api.core.CqlIdentifier;
import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.DefaultProtocolVersion;
import com.datastax.oss.driver.api.core.config.DefaultDriverOption;
import com.datastax.oss.driver.api.core.config.DriverConfigLoader;
import com.datastax.oss.driver.api.core.metadata.Node;
import com.datastax.oss.driver.api.core.metadata.NodeState;
import com.datastax.oss.driver.api.core.metadata.schema.KeyspaceMetadata;
import com.datastax.oss.driver.api.core.metadata.schema.TableMetadata;
import com.datastax.oss.driver.api.core.type.DataTypes;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the driver makes of the node: its place, its version, its schema. */
class ConnectTest {
  @Test
  void theNodeHasThePlaceThatItWasGiven() throws Exception {
    try (Server server =
            new Server("--data-center", "eu-west", "--rack", "r7", "--cluster-name", "mine");
        CqlSession session =
            CqlSession.builder()
                .addContactPoint(server.address())
                .withLocalDatacenter("eu-west")
                .build()) {
      Collection<Node> nodes = session.getMetadata().getNodes().values();
      assertEquals(1, nodes.size());
      Node node = nodes.iterator().next();
      assertEquals(server.address(), node.getEndPoint().resolve());
      assertEquals("eu-west", node.getDatacenter());
      assertEquals("r7", node.getRack());
      assertEquals(NodeState.UP, node.getState());
      assertEquals("mine", session.getMetadata().getClusterName().orElse(""));
      assertEquals(DefaultProtocolVersion.V4, session.getContext().getProtocolVersion());
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "--shards off --release-version 3.11.17",
        "--scylla off --release-version 4.1",
        "--scylla off --release-version 5.0",
        "--release-version scylla-2025.1 --shards 4"
      })
  void everyLookIsTaken(String arguments) throws Exception {
    try (Server server = new Server(arguments.split(" "));
        CqlSession session = server.connectWithKeyspace()) {
      session.execute("CREATE TABLE t (p int PRIMARY KEY, v int)");
      session.execute("INSERT INTO t (p, v) VALUES (1, 2)");
      assertEquals(2, session.execute("SELECT v FROM t WHERE p = 1").one().getInt("v"));
      assertTrue(
          session.getMetadata().getKeyspace("feat").get().getTable("t").isPresent(),
          "the driver reads the schema");
    }
  }

  private static List<String> names(Collection<? extends CqlIdentifier> identifiers) {
    return identifiers.stream().map(CqlIdentifier::asInternal).collect(Collectors.toList());
  }

  private static KeyspaceMetadata feat(CqlSession session) {
    return session.getMetadata().getKeyspace("feat").get();
  }

  @Test
  void theSchemaIsWhatWasCreatedAndFollowsChanges() throws Exception {
    try (Server server = new Server();
        CqlSession session = server.connectWithKeyspace()) {
      assertEquals(
          Map.of("class", "org.apache.cassandra.locator.SimpleStrategy", "replication_factor", "1"),
          feat(session).getReplication());
      session.execute("CREATE TYPE address (street text, number int)");
      session.execute(
          "CREATE TABLE t (a text, b int, c timeuuid, s text STATIC, v frozen<list<address>>,"
              + " d blob, PRIMARY KEY ((a, b), c)) WITH CLUSTERING ORDER BY (c ASC)"
              + " AND default_time_to_live = 864000");
      session.execute("CREATE INDEX t_by_d ON t((a, b), d)");
      TableMetadata table = feat(session).getTable("t").get();
      assertEquals(
          List.of("a", "b"),
          table.getPartitionKey().stream()
              .map(column -> column.getName().asInternal())
              .collect(Collectors.toList()));
      assertEquals(
          List.of("c"),
          names(
              table.getClusteringColumns().keySet().stream()
                  .map(column -> column.getName())
                  .collect(Collectors.toList())));
      assertEquals(DataTypes.TIMEUUID, table.getColumn("c").get().getType());
      assertTrue(table.getColumn("s").get().isStatic());
      assertEquals(
          DataTypes.frozenListOf(feat(session).getUserDefinedType("address").get().copy(true)),
          table.getColumn("v").get().getType());
      assertTrue(table.getIndex("t_by_d").isPresent());
      assertEquals(864000, table.getOptions().get(CqlIdentifier.fromCql("default_time_to_live")));

      session.execute("ALTER TABLE t ADD w double");
      assertEquals(
          DataTypes.DOUBLE, feat(session).getTable("t").get().getColumn("w").get().getType());
      session.execute("DROP TABLE t");
      assertFalse(feat(session).getTable("t").isPresent());
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"V3", "V4"})
  void bothProtocolVersions(String version) throws Exception {
    DriverConfigLoader loader =
        DriverConfigLoader.programmaticBuilder()
            .withString(DefaultDriverOption.PROTOCOL_VERSION, version)
            .build();
    try (Server server = new Server();
        CqlSession session = server.builder().withConfigLoader(loader).build()) {
      assertEquals(version, session.getContext().getProtocolVersion().name());
      assertEquals(
          "local", session.execute("SELECT key FROM system.local").one().getString("key"));
    }
  }
}
