package liststore;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.springframework.data.cassandra.core.query.Criteria.where;
import static org.springframework.data.cassandra.core.query.Query.query;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.BatchType;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import liststore.Shop.Address;
import liststore.Shop.Customer;
import liststore.Shop.Order;
import liststore.Shop.OrderKey;
import liststore.Shop.Stock;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.data.cassandra.CassandraInvalidQueryException;
import org.springframework.data.cassandra.config.SchemaAction;
import org.springframework.data.cassandra.config.SessionFactoryFactoryBean;
import org.springframework.data.cassandra.core.CassandraAdminTemplate;
import org.springframework.data.cassandra.core.CassandraTemplate;
import org.springframework.data.cassandra.core.DeleteOptions;
import org.springframework.data.cassandra.core.InsertOptions;
import org.springframework.data.cassandra.core.ReactiveCassandraTemplate;
import org.springframework.data.cassandra.core.UpdateOptions;
import org.springframework.data.cassandra.core.WriteResult;
import org.springframework.data.cassandra.core.convert.CassandraConverter;
import org.springframework.data.cassandra.core.cql.CqlTemplate;
import org.springframework.data.cassandra.core.cql.session.DefaultBridgedReactiveSession;
import org.springframework.data.cassandra.core.query.CassandraPageRequest;
import org.springframework.data.cassandra.core.query.Columns;
import org.springframework.data.cassandra.core.query.Query;
import org.springframework.data.cassandra.core.query.Update;
import org.springframework.data.domain.Slice;
import org.springframework.data.domain.Sort;
import org.springframework.test.context.junit.jupiter.SpringJUnitConfig;

/** Templates: entities with options of a statement, statements as text, the schema, and all that without waiting. */
@SpringJUnitConfig(Shop.Settings.class)
class TemplatesTest {
  private static final Instant DAY = Instant.parse("2024-05-06T00:00:00Z");

  @Autowired CassandraTemplate template;
  @Autowired CassandraAdminTemplate admin;
  @Autowired SessionFactoryFactoryBean factory;
  @Autowired CassandraConverter converter;
  @Autowired CqlSession session;

  @BeforeEach
  void empty() {
    template.truncate(Customer.class);
    template.truncate(Order.class);
    template.truncate(Stock.class);
  }

  private static Order order(String customer, int number) {
    return new Order(new OrderKey(customer, DAY.plusSeconds(number), number), "cup " + number, number, "Wien");
  }

  private static Query byName(String article) {
    return query(where("article").is(article));
  }

  @Test
  void insertsForATime() {
    template.insert(new Stock("cup", 0, 3), InsertOptions.builder().ttl(Duration.ofMinutes(10)).build());
    Integer left = template.getCqlOperations()
        .queryForObject("SELECT TTL(pieces) FROM stock WHERE article = ?", Integer.class, "cup");
    assertTrue(left > 590 && left <= 600, () -> "TTL is " + left);
  }

  @Test
  void insertsWithATimestamp() {
    template.insert(order("ada", 1), InsertOptions.builder().timestamp(Instant.ofEpochSecond(20)).build());
    template.insert(new Order(order("ada", 1).key(), "older", 0, "Graz"),
        InsertOptions.builder().timestamp(Instant.ofEpochSecond(10)).build());
    assertEquals("cup 1", template.selectOne(query(where("key.customer").is("ada")), Order.class).article());
    assertEquals(20_000_000L, template.getCqlOperations()
        .queryForObject("SELECT WRITETIME(article) FROM orders WHERE customer = 'ada'", Long.class));
  }

  @Test
  void insertsIfNotThere() {
    InsertOptions once = InsertOptions.builder().withIfNotExists().build();
    assertTrue(template.insert(order("ada", 1), once).wasApplied());
    assertFalse(template.insert(order("ada", 1), once).wasApplied());
  }

  @Test
  void updatesIfThereOrIfACondition() {
    UpdateOptions ifThere = UpdateOptions.builder().withIfExists().build();
    Stock stock = new Stock("cup", 1, 5);
    assertFalse(template.getCqlOperations().execute("UPDATE stock SET pieces = 1 WHERE article = 'cup' IF EXISTS"));
    template.getCqlOperations().execute("INSERT INTO stock (article, version, pieces) VALUES (?, ?, ?)",
        stock.article(), stock.version(), stock.pieces());
    assertTrue(template.update(byName("cup").queryOptions(ifThere), Update.update("pieces", 4), Stock.class));
    UpdateOptions ifFour = UpdateOptions.builder().ifCondition(where("pieces").is(4)).build();
    assertTrue(template.update(byName("cup").queryOptions(ifFour), Update.update("pieces", 3), Stock.class));
    assertFalse(template.update(byName("cup").queryOptions(ifFour), Update.update("pieces", 2), Stock.class));
    DeleteOptions ifThree = DeleteOptions.builder().ifCondition(where("pieces").is(3)).build();
    assertTrue(template.delete(byName("cup").queryOptions(ifThree), Stock.class));
    assertFalse(template.exists("cup", Stock.class));
  }

  @Test
  void updatesCollections() {
    Customer ada = Customer.named("Ada");
    template.insert(ada);
    Query byId = query(where("id").is(ada.id()));
    Update update = Update.empty().addTo("tags").append("loyal").addTo("notes").entry("size", "XL")
        .addTo("formerAddresses").prepend(new Address("Platz", "Linz", (short) 2)).remove("tags", "new");
    assertTrue(template.update(byId, update, Customer.class));
    Customer found = template.selectOneById(ada.id(), Customer.class);
    assertEquals(Set.of("good", "loyal"), found.tags());
    assertEquals(Map.of("colour", "blue", "size", "XL"), found.notes());
    assertEquals(List.of("Linz", "Wien"), found.formerAddresses().stream().map(Address::city).toList());
    template.update(byId, Update.empty().set("notes").atKey("size").to("S").set("formerAddresses").atIndex(0)
        .to(new Address("Platz", "Graz", (short) 2)), Customer.class);
    found = template.selectOneById(ada.id(), Customer.class);
    assertEquals("S", found.notes().get("size"));
    assertEquals("Graz", found.formerAddresses().get(0).city());
  }

  @Test
  void selectsColumnsInOrderWithALimit() {
    for (int number = 0; number < 6; ++number) template.insert(order("ada", number));
    List<Order> found = template.select(query(where("key.customer").is("ada"),
        where("key.at").gte(DAY.plusSeconds(1))).columns(Columns.from("key.number", "article"))
        .sort(Sort.by("key.at").ascending()).limit(3), Order.class);
    assertEquals(List.of("cup 1", "cup 2", "cup 3"), found.stream().map(Order::article).toList());
    assertNull(found.get(0).pieces());
    assertEquals(6, template.count(query(where("key.customer").is("ada")), Order.class));
    assertTrue(template.exists(query(where("key.customer").is("ada")), Order.class));
  }

  @Test
  void slices() {
    for (int number = 0; number < 10; ++number) template.insert(order("ada", number));
    Query all = query(where("key.customer").is("ada"));
    Slice<Order> slice = template.slice(all.pageRequest(CassandraPageRequest.first(4)), Order.class);
    assertEquals(4, slice.getNumberOfElements());
    slice = template.slice(all.pageRequest(slice.nextPageable()), Order.class);
    slice = template.slice(all.pageRequest(slice.nextPageable()), Order.class);
    assertEquals(2, slice.getNumberOfElements());
    assertFalse(slice.hasNext());
  }

  @Test
  void batches() {
    List<Order> orders = IntStream.range(0, 5).mapToObj(number -> order("ada", number)).toList();
    assertTrue(template.batchOps().insert(orders).execute().wasApplied());
    assertTrue(template.batchOps(BatchType.UNLOGGED).delete(orders.get(0)).update(
        new Order(orders.get(1).key(), "bowl", 1, "Graz")).execute().wasApplied());
    assertEquals(4, template.count(Order.class));
    WriteResult timed = template.batchOps().insert(orders.get(0)).withTimestamp(1_000).execute();
    assertTrue(timed.wasApplied());
    // Older than the deletion.
    assertEquals(4, template.count(Order.class));
  }

  @Test
  void statementsAsText() {
    CqlTemplate cql = (CqlTemplate) template.getCqlOperations();
    cql.execute("INSERT INTO stock (article, pieces) VALUES (?, ?)", "cup", 4);
    cql.execute("INSERT INTO stock (article, pieces) VALUES (?, ?)", "bowl", 5);
    assertEquals(9, cql.queryForObject("SELECT sum(pieces) FROM stock", Integer.class));
    assertEquals(Map.of("article", "cup", "pieces", 4),
        cql.queryForMap("SELECT article, pieces FROM stock WHERE article = ?", "cup"));
    assertEquals(List.of("bowl", "cup"),
        cql.query("SELECT article FROM stock", (row, number) -> row.getString(0)).stream().sorted().toList());
    assertThrows(CassandraInvalidQueryException.class,
        () -> cql.execute("SELECT * FROM stock WHERE pieces = 4"));
  }

  @Test
  void schemaIsSeen() {
    var table = admin.getTableMetadata("shop", com.datastax.oss.driver.api.core.CqlIdentifier.fromCql("orders"))
        .orElseThrow();
    assertEquals(List.of("customer"),
        table.getPartitionKey().stream().map(column -> column.getName().asInternal()).toList());
    assertEquals(List.of("at", "number"), table.getClusteringColumns().keySet().stream()
        .map(column -> column.getName().asInternal()).toList());
    var types = admin.getKeyspaceMetadata().getUserDefinedTypes();
    assertTrue(types.containsKey(com.datastax.oss.driver.api.core.CqlIdentifier.fromCql("address")));
    assertEquals(2, admin.getKeyspaceMetadata().getTable("customers").orElseThrow().getIndexes().size());
  }

  @Test
  void tablesComeAndGo() {
    admin.dropTable(com.datastax.oss.driver.api.core.CqlIdentifier.fromCql("stock"));
    assertFalse(admin.getKeyspaceMetadata().getTable("stock").isPresent());
    admin.createTable(true, com.datastax.oss.driver.api.core.CqlIdentifier.fromCql("stock"), Stock.class, Map.of());
    template.insert(new Stock("cup", 0, 3));
    assertEquals(3, template.selectOneById("cup", Stock.class).pieces());
  }

  @Test
  void schemaIsMadeAgain() throws Exception {
    template.insert(order("ada", 1));
    SessionFactoryFactoryBean again = new SessionFactoryFactoryBean();
    again.setSession(session);
    again.setConverter(converter);
    again.setSchemaAction(SchemaAction.CREATE_IF_NOT_EXISTS);
    again.afterPropertiesSet();
    assertEquals(1, template.count(Order.class));
    again.setSchemaAction(SchemaAction.RECREATE_DROP_UNUSED);
    session.execute("CREATE TABLE shop.unused (a int PRIMARY KEY)");
    again.afterPropertiesSet();
    assertEquals(0, template.count(Order.class));
    assertFalse(admin.getKeyspaceMetadata().getTable("unused").isPresent());
  }

  @Test
  void withoutWaiting() {
    var reactive = new ReactiveCassandraTemplate(new DefaultBridgedReactiveSession(session), converter);
    Duration limit = Duration.ofSeconds(60);
    reactor.core.publisher.Flux.range(0, 2000).map(number -> order("ada", number))
        .flatMap(reactive::insert, 64).then().block(limit);
    assertEquals(2000, reactive.select(query(where("key.customer").is("ada")).pageRequest(
        CassandraPageRequest.first(100)), Order.class).count().block(limit));
    assertEquals(2000, reactive.count(Order.class).block(limit));
    assertEquals(true, reactive.delete(order("ada", 7)).map(order -> true).block(limit));
    assertEquals("cup 6", reactive.selectOne(query(where("key.customer").is("ada"),
        where("key.at").is(DAY.plusSeconds(6))), Order.class).block(limit).article());
    assertFalse(reactive.exists(query(where("key.customer").is("ada"),
        where("key.at").is(DAY.plusSeconds(7))), Order.class).block(limit));
  }
}
