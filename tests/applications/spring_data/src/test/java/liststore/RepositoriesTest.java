package liststore;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import liststore.Shop.Customer;
import liststore.Shop.NameOnly;
import liststore.Shop.Order;
import liststore.Shop.OrderKey;
import liststore.Shop.Stock;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.dao.OptimisticLockingFailureException;
import org.springframework.data.cassandra.core.CassandraTemplate;
import org.springframework.data.cassandra.core.query.CassandraPageRequest;
import org.springframework.data.cassandra.repository.AllowFiltering;
import org.springframework.data.cassandra.repository.CassandraRepository;
import org.springframework.data.cassandra.repository.Query;
import org.springframework.data.domain.Limit;
import org.springframework.data.domain.Pageable;
import org.springframework.data.domain.Slice;
import org.springframework.data.domain.Sort;
import org.springframework.test.context.junit.jupiter.SpringJUnitConfig;

/** Repositories: statements that Spring Data derives from the names of methods, or is given. */
@SpringJUnitConfig(Shop.Settings.class)
class RepositoriesTest {
  interface Customers extends CassandraRepository<Customer, UUID> {
    List<Customer> findByName(String name);

    List<NameOnly> findNamesById(UUID id);

    boolean existsByName(String name);

    long countByName(String name);

    List<Customer> findByTagsContains(String tag);

    @AllowFiltering
    List<Customer> findByNameAndActive(String name, boolean active);

    @Query("SELECT name FROM customers WHERE id IN ?0")
    List<NameOnly> namesOf(Collection<UUID> ids);
  }

  interface Orders extends CassandraRepository<Order, OrderKey> {
    List<Order> findByKeyCustomer(String customer);

    List<Order> findByKeyCustomer(String customer, Sort sort);

    Slice<Order> findByKeyCustomer(String customer, Pageable page);

    List<Order> findByKeyCustomerAndKeyAtBetween(String customer, Instant after, Instant before);

    List<Order> findByKeyCustomerAndKeyAtGreaterThanEqual(String customer, Instant from, Limit limit);

    List<Order> findByKeyCustomerAndKeyAtIn(String customer, Collection<Instant> at);

    Optional<Order> findFirstByKeyCustomer(String customer);

    Stream<Order> streamByKeyCustomer(String customer);

    void deleteByKeyCustomerAndKeyAt(String customer, Instant at);

    void deleteByKeyCustomer(String customer);

    @Query("SELECT sum(pieces) FROM orders WHERE customer = :customer")
    long pieces(@org.springframework.data.repository.query.Param("customer") String customer);
  }

  interface Stocks extends CassandraRepository<Stock, String> {}

  private static final Instant DAY = Instant.parse("2024-05-06T00:00:00Z");

  @Autowired Customers customers;
  @Autowired Orders orders;
  @Autowired Stocks stocks;
  @Autowired CassandraTemplate template;

  @BeforeEach
  void empty() {
    customers.deleteAll();
    orders.deleteAll();
    stocks.deleteAll();
  }

  private static Order order(String customer, int number) {
    return new Order(new OrderKey(customer, DAY.plusSeconds(number), number), "cup " + number, number, "Wien");
  }

  private void saveOrders(String customer, int count) {
    orders.saveAll(IntStream.range(0, count).mapToObj(number -> order(customer, number)).toList());
  }

  private static List<Integer> numbers(Iterable<Order> found) {
    List<Integer> numbers = new ArrayList<>();
    found.forEach(order -> numbers.add(order.key().number()));
    return numbers;
  }

  @Test
  void savedEntityIsFoundWithAllOfIt() {
    Customer ada = Customer.named("Ada");
    customers.save(ada);
    assertEquals(Optional.of(ada), customers.findById(ada.id()));
    assertTrue(customers.existsById(ada.id()));
    assertFalse(customers.existsById(UUID.randomUUID()));
    assertEquals(1, customers.count());
  }

  @Test
  void insertDoesNotAskWhetherItIsThere() {
    Customer ada = customers.insert(Customer.named("Ada"));
    customers.insert(ada.withActive(false));
    assertEquals(Optional.of(ada.withActive(false)), customers.findById(ada.id()));
  }

  @Test
  void severalAreFoundByTheirKeys() {
    List<Customer> all = customers.saveAll(List.of(Customer.named("A"), Customer.named("B"), Customer.named("C")));
    assertEquals(Set.of(all.get(0), all.get(2)),
        Set.copyOf(customers.findAllById(List.of(all.get(0).id(), all.get(2).id()))));
    assertEquals(3, customers.findAll().size());
    customers.deleteAllById(List.of(all.get(0).id(), all.get(1).id()));
    assertEquals(List.of(all.get(2)), customers.findAll());
  }

  @Test
  void findsByIndex() {
    Customer ada = customers.save(Customer.named("Ada"));
    customers.save(Customer.named("Bob"));
    assertEquals(List.of(ada), customers.findByName("Ada"));
    assertTrue(customers.existsByName("Bob"));
    assertEquals(0, customers.countByName("Eve"));
  }

  @Test
  void findsByMemberOfIndexedSet() {
    Customer ada = customers.save(Customer.named("Ada"));
    assertEquals(List.of(ada), customers.findByTagsContains("good"));
    assertEquals(List.of(), customers.findByTagsContains("bad"));
  }

  @Test
  void filtersWhereAllowed() {
    Customer ada = customers.save(Customer.named("Ada"));
    customers.save(Customer.named("Ada").withActive(false));
    assertEquals(List.of(ada), customers.findByNameAndActive("Ada", true));
  }

  @Test
  void projectsOntoAnInterface() {
    Customer ada = customers.save(Customer.named("Ada"));
    assertEquals("Ada", customers.findNamesById(ada.id()).get(0).getName());
  }

  @Test
  void runsAStatementOfItsOwn() {
    Customer ada = customers.save(Customer.named("Ada"));
    Customer bob = customers.save(Customer.named("Bob"));
    assertEquals(Set.of("Ada", "Bob"), Set.copyOf(
        customers.namesOf(List.of(ada.id(), bob.id())).stream().map(NameOnly::getName).toList()));
    saveOrders("ada", 5);
    assertEquals(10, orders.pieces("ada"));
  }

  @Test
  void partitionIsInClusteringOrder() {
    saveOrders("ada", 5);
    saveOrders("bob", 1);
    assertEquals(List.of(4, 3, 2, 1, 0), numbers(orders.findByKeyCustomer("ada")));
    assertEquals(List.of(0, 1, 2, 3, 4), numbers(orders.findByKeyCustomer("ada", Sort.by("key.at"))));
  }

  @Test
  void rangesOfTheClusteringKey() {
    saveOrders("ada", 6);
    assertEquals(List.of(3, 2),
        numbers(orders.findByKeyCustomerAndKeyAtBetween("ada", DAY.plusSeconds(1), DAY.plusSeconds(4))));
    assertEquals(List.of(5, 4), numbers(
        orders.findByKeyCustomerAndKeyAtGreaterThanEqual("ada", DAY.plusSeconds(2), Limit.of(2))));
    assertEquals(List.of(4, 1), numbers(
        orders.findByKeyCustomerAndKeyAtIn("ada", List.of(DAY.plusSeconds(1), DAY.plusSeconds(4)))));
  }

  @Test
  void firstOfAPartition() {
    saveOrders("ada", 3);
    assertEquals(2, orders.findFirstByKeyCustomer("ada").orElseThrow().key().number());
    assertEquals(Optional.empty(), orders.findFirstByKeyCustomer("bob"));
  }

  @Test
  void slicesFollowOneAnother() {
    saveOrders("ada", 25);
    List<Integer> seen = new ArrayList<>();
    Slice<Order> slice = orders.findByKeyCustomer("ada", CassandraPageRequest.first(10));
    seen.addAll(numbers(slice));
    assertEquals(10, slice.getNumberOfElements());
    while (slice.hasNext()) {
      slice = orders.findByKeyCustomer("ada", slice.nextPageable());
      seen.addAll(numbers(slice));
    }
    assertEquals(IntStream.range(0, 25).map(i -> 24 - i).boxed().toList(), seen);
  }

  @Test
  void slicesOfTheWholeTable() {
    for (int customer = 0; customer < 7; ++customer) saveOrders("customer " + customer, 3);
    Slice<Order> slice = orders.findAll(CassandraPageRequest.first(4));
    int seen = slice.getNumberOfElements();
    while (slice.hasNext()) {
      slice = orders.findAll(slice.nextPageable());
      seen += slice.getNumberOfElements();
    }
    assertEquals(21, seen);
  }

  @Test
  void streamsOverPages() {
    saveOrders("ada", 300);
    try (Stream<Order> found = orders.streamByKeyCustomer("ada")) {
      assertEquals(300, found.count());
    }
  }

  @Test
  void deletesByKeyPrefixAndPartition() {
    saveOrders("ada", 4);
    saveOrders("bob", 2);
    orders.deleteByKeyCustomerAndKeyAt("ada", DAY.plusSeconds(2));
    assertEquals(List.of(3, 1, 0), numbers(orders.findByKeyCustomer("ada")));
    orders.deleteByKeyCustomer("ada");
    assertEquals(List.of(), numbers(orders.findByKeyCustomer("ada")));
    assertEquals(List.of(1, 0), numbers(orders.findByKeyCustomer("bob")));
  }

  @Test
  void deletesByWholeKey() {
    saveOrders("ada", 3);
    orders.deleteById(order("ada", 1).key());
    orders.delete(order("ada", 2));
    assertEquals(List.of(0), numbers(orders.findByKeyCustomer("ada")));
  }

  @Test
  void staticColumnIsThePartitions() {
    saveOrders("ada", 2);
    Order moved = order("ada", 2);
    orders.save(new Order(moved.key(), moved.article(), moved.pieces(), "Graz"));
    assertEquals(Set.of("Graz"),
        Set.copyOf(orders.findByKeyCustomer("ada").stream().map(Order::shippedTo).toList()));
  }

  @Test
  void versionsLockOptimistically() {
    Stock first = stocks.save(new Stock("cup", 0, 10));
    Stock second = stocks.save(new Stock(first.article(), first.version(), 9));
    assertEquals(first.version() + 1, second.version());
    assertThrows(OptimisticLockingFailureException.class,
        () -> stocks.save(new Stock(first.article(), first.version(), 8)));
    assertThrows(OptimisticLockingFailureException.class, () -> stocks.save(new Stock("cup", 0, 1)));
    assertEquals(9, stocks.findById("cup").orElseThrow().pieces());
    assertThrows(OptimisticLockingFailureException.class, () -> template.delete(first));
    template.delete(second);
    assertEquals(Optional.empty(), stocks.findById("cup"));
  }
}
