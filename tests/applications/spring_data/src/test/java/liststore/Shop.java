package liststore;

import com.datastax.oss.driver.api.core.config.DefaultDriverOption;
import com.datastax.oss.driver.api.core.config.DriverConfigLoader;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.Currency;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.convert.converter.Converter;
import org.springframework.data.annotation.Id;
import org.springframework.data.annotation.Version;
import org.springframework.data.cassandra.config.AbstractCassandraConfiguration;
import org.springframework.data.cassandra.config.SchemaAction;
import org.springframework.data.cassandra.config.SessionBuilderConfigurer;
import org.springframework.data.cassandra.core.convert.CassandraCustomConversions;
import org.springframework.data.cassandra.core.cql.Ordering;
import org.springframework.data.cassandra.core.cql.PrimaryKeyType;
import org.springframework.data.cassandra.core.cql.keyspace.CreateKeyspaceSpecification;
import org.springframework.data.cassandra.core.cql.keyspace.KeyspaceOption;
import org.springframework.data.cassandra.core.mapping.CassandraType;
import org.springframework.data.cassandra.core.mapping.Column;
import org.springframework.data.cassandra.core.mapping.Indexed;
import org.springframework.data.cassandra.core.mapping.PrimaryKey;
import org.springframework.data.cassandra.core.mapping.PrimaryKeyClass;
import org.springframework.data.cassandra.core.mapping.PrimaryKeyColumn;
import org.springframework.data.cassandra.core.mapping.Table;
import org.springframework.data.cassandra.core.mapping.Tuple;
import org.springframework.data.cassandra.core.mapping.Element;
import org.springframework.data.cassandra.core.mapping.UserDefinedType;
import org.springframework.data.cassandra.repository.config.EnableCassandraRepositories;

/** A shop: what it keeps, and how Spring Data is told to keep it. */
final class Shop {
  private Shop() {}

  enum Kind { PRIVATE, COMPANY }

  record Money(BigDecimal amount, Currency currency) {}

  @UserDefinedType("address")
  record Address(String street, String city, @CassandraType(type = CassandraType.Name.SMALLINT) short number) {}

  @Tuple
  record Position(@Element(0) double latitude, @Element(1) double longitude) {}

  @Table("customers")
  record Customer(
      @PrimaryKey UUID id,
      @Indexed String name,
      @Column("birth_day") LocalDate born,
      Kind kind,
      Money credit,
      Address address,
      List<Address> formerAddresses,
      Map<String, String> notes,
      @Indexed Set<String> tags,
      Position position,
      Duration patience,
      Boolean active) {
    static Customer named(String name) {
      return new Customer(UUID.randomUUID(), name, LocalDate.of(1970, 1, 2), Kind.COMPANY,
          new Money(new BigDecimal("12.50"), Currency.getInstance("EUR")), new Address("Ring", "Wien", (short) 7),
          List.of(new Address("Graben", "Wien", (short) 1)), Map.of("colour", "blue"), Set.of("new", "good"),
          new Position(48.2, 16.4), Duration.ofMinutes(90), true);
    }

    Customer withActive(boolean value) {
      return new Customer(id, name, born, kind, credit, address, formerAddresses, notes, tags, position, patience,
          value);
    }
  }

  interface NameOnly {
    String getName();
  }

  @PrimaryKeyClass
  record OrderKey(
      @PrimaryKeyColumn(type = PrimaryKeyType.PARTITIONED) String customer,
      @PrimaryKeyColumn(type = PrimaryKeyType.CLUSTERED, ordinal = 0, ordering = Ordering.DESCENDING) Instant at,
      @PrimaryKeyColumn(type = PrimaryKeyType.CLUSTERED, ordinal = 1) int number)
      implements java.io.Serializable {}

  @Table("orders")
  record Order(@PrimaryKey OrderKey key, String article, Integer pieces,
      @Column(value = "shipped_to", isStatic = true) String shippedTo) {}

  @Table("stock")
  record Stock(@Id String article, @Version long version, int pieces) {}

  static final class MoneyToText implements Converter<Money, String> {
    @Override
    public String convert(Money money) {
      return money.amount() + " " + money.currency();
    }
  }

  static final class TextToMoney implements Converter<String, Money> {
    @Override
    public Money convert(String text) {
      String[] parts = text.split(" ");
      return new Money(new BigDecimal(parts[0]), Currency.getInstance(parts[1]));
    }
  }

  @Configuration
  @EnableCassandraRepositories(considerNestedRepositories = true)
  static class Settings extends AbstractCassandraConfiguration {
    @Override
    protected String getKeyspaceName() {
      return "shop";
    }

    @Override
    protected String getLocalDataCenter() {
      return "datacenter1";
    }

    @Override
    protected SessionBuilderConfigurer getSessionBuilderConfigurer() {
      return builder -> builder.withConfigLoader(DriverConfigLoader.programmaticBuilder()
          .withDuration(DefaultDriverOption.REQUEST_TIMEOUT, Duration.ofSeconds(30)).build());
    }

    @Override
    protected List<CreateKeyspaceSpecification> getKeyspaceCreations() {
      return List.of(CreateKeyspaceSpecification.createKeyspace("shop").ifNotExists()
          .with(KeyspaceOption.DURABLE_WRITES, true).withSimpleReplication(1));
    }

    @Override
    public SchemaAction getSchemaAction() {
      return SchemaAction.RECREATE;
    }

    @Override
    public String[] getEntityBasePackages() {
      return new String[] {"liststore"};
    }

    @Override
    public CassandraCustomConversions customConversions() {
      return new CassandraCustomConversions(List.of(new MoneyToText(), new TextToMoney()));
    }
  }
}
