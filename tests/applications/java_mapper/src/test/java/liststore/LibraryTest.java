package liststore;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.datastax.oss.driver.api.core.CqlIdentifier;
import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.MappedAsyncPagingIterable;
import com.datastax.oss.driver.api.core.config.DefaultDriverOption;
import com.datastax.oss.driver.api.core.config.DriverConfigLoader;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.IntStream;
import liststore.Library.Author;
import liststore.Library.Book;
import liststore.Library.Books;
import liststore.Library.Counts;
import liststore.Library.Loan;
import liststore.Library.Loans;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The library at work. */
class LibraryTest {
  private static final Instant DAY = Instant.parse("2024-05-06T00:00:00Z");

  private static CqlSession session;
  private static Library.Access access;
  private static Books books;
  private static Loans loans;
  private static Counts counts;

  @BeforeAll
  static void start() {
    session = CqlSession.builder().withConfigLoader(DriverConfigLoader.programmaticBuilder()
        .withDuration(DefaultDriverOption.REQUEST_TIMEOUT, Duration.ofSeconds(30)).build()).build();
    session.execute("CREATE KEYSPACE library WITH replication = "
        + "{'class': 'SimpleStrategy', 'replication_factor': 1}");
    session.execute("CREATE TYPE library.author (name text, born int)");
    session.execute("CREATE TABLE library.book (item_id uuid PRIMARY KEY, title text, "
        + "authors list<frozen<author>>, tags set<text>, pages map<text, int>, copies int)");
    session.execute("CREATE INDEX ON library.book (title)");
    session.execute("CREATE TABLE library.loan (reader text, since timestamp, number int, item_id uuid, "
        + "PRIMARY KEY (reader, since, number)) WITH CLUSTERING ORDER BY (since DESC, number ASC)");
    session.execute("CREATE TABLE library.reads (item_id uuid PRIMARY KEY, times counter)");
    access = new Library_AccessBuilder(session).build();
    CqlIdentifier keyspace = CqlIdentifier.fromCql("library");
    books = access.books(keyspace);
    loans = access.loans(keyspace);
    counts = access.counts(keyspace);
  }

  @AfterAll
  static void stop() {
    session.close();
  }

  @BeforeEach
  void empty() {
    for (String table : List.of("book", "loan", "reads")) session.execute("TRUNCATE library." + table);
  }

  private static Book book(String title, int copies) {
    Book book = new Book();
    book.setItemId(UUID.randomUUID());
    book.setTitle(title);
    book.setAuthors(List.of(new Author("Ada", 1815), new Author("Eve", null)));
    book.setTags(Set.of("old", "red"));
    book.setPages(Map.of("first", 10, "second", 20));
    book.setCopies(copies);
    return book;
  }

  private static void lend(String reader, int count) throws Exception {
    for (int number = 0; number < count; ++number) {
      loans.save(new Loan(reader, DAY.plusSeconds(number / 2), number, UUID.randomUUID()))
          .toCompletableFuture().get();
    }
  }

  private static List<Integer> numbers(Iterable<Loan> found) {
    List<Integer> numbers = new ArrayList<>();
    found.forEach(loan -> numbers.add(loan.getNumber()));
    return numbers;
  }

  @Test
  void savedIsFoundWithAllOfIt() {
    Book saved = book("Notes", 3);
    books.save(saved);
    Book found = books.find(saved.getItemId());
    assertEquals(saved.getTitle(), found.getTitle());
    assertEquals(saved.getAuthors(), found.getAuthors());
    assertEquals(saved.getTags(), found.getTags());
    assertEquals(saved.getPages(), found.getPages());
    assertEquals(3, found.getCopies());
    assertNull(found.getLeft());
    assertTrue(found.getWritten() > 0);
    assertNull(books.find(UUID.randomUUID()));
  }

  @Test
  void nullsAreWrittenOrNotSet() {
    Book saved = book("Notes", 3);
    books.saveFor(saved, 600, 1_000_000);
    saved.setTitle(null);
    saved.setCopies(4);
    books.saveFor(saved, 600, 2_000_000);
    Book found = books.find(saved.getItemId());
    assertEquals("Notes", found.getTitle());
    assertEquals(2_000_000, found.getWritten());
    assertTrue(found.getLeft() > 590 && found.getLeft() <= 600);
    books.save(saved);
    assertNull(books.find(saved.getItemId()).getTitle());
  }

  @Test
  void newOnesAreSavedOnce() {
    Book first = book("Notes", 3);
    assertTrue(books.saveNew(first));
    Book second = book("Other", 1);
    second.setItemId(first.getItemId());
    assertFalse(books.saveNew(second));
    assertEquals("Notes", books.find(first.getItemId()).getTitle());
  }

  @Test
  void updatesHaveConditions() {
    Book one = book("Notes", 3);
    assertFalse(books.update(one));
    books.save(one);
    one.setCopies(2);
    assertTrue(books.update(one));
    assertTrue(books.updateIf(one, 2));
    assertFalse(books.updateIf(one, 7));
    assertEquals(2, books.tryUpdate(one, 7).one().getInt("copies"));
    assertFalse(books.deleteIfFewer(one.getItemId(), 2).wasApplied());
    assertTrue(books.deleteIfFewer(one.getItemId(), 3).wasApplied());
    assertFalse(books.deleteById(one.getItemId()));
  }

  @Test
  void updatesOfSeveral() {
    Book first = book("A", 1);
    Book second = book("B", 2);
    books.save(first);
    books.save(second);
    Book change = new Book();
    change.setTitle("C");
    books.updateBoth(change, first.getItemId(), second.getItemId());
    assertEquals("C", books.find(second.getItemId()).getTitle());
    assertEquals(2, books.withTitle("C").all().size());
    assertEquals(2, books.find(second.getItemId()).getCopies());
  }

  @Test
  void findsByIndexAndByFilter() {
    Book red = book("A", 1);
    Book blue = book("B", 1);
    blue.setTags(Set.of("blue"));
    books.save(red);
    books.save(blue);
    assertEquals(red.getItemId(), books.withTitle("A").one().getItemId());
    assertEquals(List.of(blue.getItemId()), books.withTag("blue").map(Book::getItemId).all());
  }

  @Test
  void allOverPages() {
    Set<UUID> saved = new HashSet<>();
    for (int i = 0; i < 95; ++i) {
      Book one = book("Notes", i);
      saved.add(one.getItemId());
      books.save(one);
    }
    Set<UUID> found = new HashSet<>();
    books.all().forEach(one -> found.add(one.getItemId()));
    assertEquals(saved, found);
    assertEquals(95, books.count());
  }

  @Test
  void rowsAndStatementsByHand() {
    Book one = book("Notes", 3);
    PreparedStatement insert = session.prepare("INSERT INTO library.book "
        + "(item_id, title, authors, tags, pages, copies) "
        + "VALUES (:item_id, :title, :authors, :tags, :pages, :copies)");
    session.execute(books.bind(one, insert.bind()));
    assertEquals("Notes", books.of(session.execute(
        "SELECT item_id, title, authors, tags, pages, copies, ttl(copies) AS left, writetime(copies) AS written "
            + "FROM library.book").one()).getTitle());
    Book part = books.partOf(books.titleOf(one.getItemId()));
    assertEquals("Notes", part.getTitle());
    assertEquals(3, part.getLeft());
    var builder = session.prepare("UPDATE library.book SET title = :title WHERE item_id = :item_id")
        .boundStatementBuilder();
    one.setTitle("Other");
    books.bindPart(one, builder);
    session.execute(builder.build());
    assertEquals("Other", books.find(one.getItemId()).getTitle());
    books.delete(one);
    assertEquals(0, books.count());
  }

  @Test
  void partsOfAPartition() throws Exception {
    lend("ann", 10);
    lend("bob", 4);
    assertEquals(List.of(8, 9, 6, 7, 4, 5, 2, 3, 0, 1), numbers(loans.of("ann")));
    assertEquals(List.of(6, 7), numbers(loans.of("ann", DAY.plusSeconds(3))));
    // The other way round in all columns.
    assertEquals(List.of(5, 4, 7), loans.from("ann", DAY.plusSeconds(2), 3).map(Loan::getNumber).toList());
    assertEquals(Set.of(8, 2), Set.copyOf(numbers(loans.lastOfEach(List.of("ann", "bob")))));
    loans.deleteSince("ann", DAY.plusSeconds(3));
    loans.deleteBefore("ann", DAY.plusSeconds(1));
    assertEquals(List.of(8, 9, 4, 5, 2, 3), numbers(loans.of("ann")));
  }

  @Test
  void pagesWithoutWaiting() throws Exception {
    lend("ann", 90);
    List<Integer> seen = new ArrayList<>();
    MappedAsyncPagingIterable<Loan> page = loans.pagesOf("ann").toCompletableFuture().get();
    while (true) {
      page.currentPage().forEach(loan -> seen.add(loan.getNumber()));
      if (!page.hasMorePages()) break;
      page = page.fetchNextPage().toCompletableFuture().get();
    }
    assertEquals(IntStream.range(0, 90).boxed().toList(), seen.stream().sorted().toList());
    assertEquals(88, seen.get(0));
  }

  @Test
  void counters() {
    UUID one = UUID.randomUUID();
    counts.add(one, 5);
    counts.add(one, -2);
    assertEquals(3, counts.find(one).getTimes());
  }

  @Test
  void entitiesAreHeldAgainstTheSchema() {
    session.execute("CREATE KEYSPACE other WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
    session.execute("CREATE TABLE other.loan (reader text PRIMARY KEY, since timestamp, number text)");
    IllegalArgumentException error = assertThrows(IllegalArgumentException.class,
        () -> access.loans(CqlIdentifier.fromCql("other")));
    assertTrue(error.getMessage().contains("Loan"), error::getMessage);
  }
}
