package liststore;

import com.datastax.oss.driver.api.core.CqlIdentifier;
import com.datastax.oss.driver.api.core.MappedAsyncPagingIterable;
import com.datastax.oss.driver.api.core.PagingIterable;
import com.datastax.oss.driver.api.core.cql.BoundStatement;
import com.datastax.oss.driver.api.core.cql.BoundStatementBuilder;
import com.datastax.oss.driver.api.core.cql.ResultSet;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.mapper.annotations.ClusteringColumn;
import com.datastax.oss.driver.api.mapper.annotations.Computed;
import com.datastax.oss.driver.api.mapper.annotations.Dao;
import com.datastax.oss.driver.api.mapper.annotations.DaoFactory;
import com.datastax.oss.driver.api.mapper.annotations.DaoKeyspace;
import com.datastax.oss.driver.api.mapper.annotations.DefaultNullSavingStrategy;
import com.datastax.oss.driver.api.mapper.annotations.Delete;
import com.datastax.oss.driver.api.mapper.annotations.Entity;
import com.datastax.oss.driver.api.mapper.annotations.GetEntity;
import com.datastax.oss.driver.api.mapper.annotations.Increment;
import com.datastax.oss.driver.api.mapper.annotations.Insert;
import com.datastax.oss.driver.api.mapper.annotations.Mapper;
import com.datastax.oss.driver.api.mapper.annotations.PartitionKey;
import com.datastax.oss.driver.api.mapper.annotations.PropertyStrategy;
import com.datastax.oss.driver.api.mapper.annotations.Query;
import com.datastax.oss.driver.api.mapper.annotations.Select;
import com.datastax.oss.driver.api.mapper.annotations.SetEntity;
import com.datastax.oss.driver.api.mapper.annotations.StatementAttributes;
import com.datastax.oss.driver.api.mapper.annotations.Update;
import com.datastax.oss.driver.api.mapper.entity.saving.NullSavingStrategy;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletionStage;
import java.util.stream.Stream;

/** A library: its entities, and the methods for which the mapper writes the statements. */
final class Library {
  private Library() {}

  @Entity
  @PropertyStrategy(mutable = false)
  static final class Author {
    private final String name;
    private final Integer born;

    Author(String name, Integer born) {
      this.name = name;
      this.born = born;
    }

    public String getName() {
      return name;
    }

    public Integer getBorn() {
      return born;
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof Author author && name.equals(author.name) && Objects.equals(born, author.born);
    }

    @Override
    public int hashCode() {
      return name.hashCode();
    }
  }

  /** What books of all kinds have. */
  abstract static class Item {
    @PartitionKey private UUID itemId;
    private String title;

    public UUID getItemId() {
      return itemId;
    }

    public void setItemId(UUID itemId) {
      this.itemId = itemId;
    }

    public String getTitle() {
      return title;
    }

    public void setTitle(String title) {
      this.title = title;
    }
  }

  @Entity
  static final class Book extends Item {
    private List<Author> authors;
    private Set<String> tags;
    private Map<String, Integer> pages;
    private Integer copies;

    @Computed("ttl(copies)")
    private Integer left;

    @Computed("writetime(copies)")
    private Long written;

    public List<Author> getAuthors() {
      return authors;
    }

    public void setAuthors(List<Author> authors) {
      this.authors = authors;
    }

    public Set<String> getTags() {
      return tags;
    }

    public void setTags(Set<String> tags) {
      this.tags = tags;
    }

    public Map<String, Integer> getPages() {
      return pages;
    }

    public void setPages(Map<String, Integer> pages) {
      this.pages = pages;
    }

    public Integer getCopies() {
      return copies;
    }

    public void setCopies(Integer copies) {
      this.copies = copies;
    }

    public Integer getLeft() {
      return left;
    }

    public void setLeft(Integer left) {
      this.left = left;
    }

    public Long getWritten() {
      return written;
    }

    public void setWritten(Long written) {
      this.written = written;
    }
  }

  @Entity
  static final class Loan {
    @PartitionKey private String reader;
    @ClusteringColumn(0) private Instant since;
    @ClusteringColumn(1) private int number;
    private UUID itemId;

    public Loan() {}

    Loan(String reader, Instant since, int number, UUID itemId) {
      this.reader = reader;
      this.since = since;
      this.number = number;
      this.itemId = itemId;
    }

    public String getReader() {
      return reader;
    }

    public void setReader(String reader) {
      this.reader = reader;
    }

    public Instant getSince() {
      return since;
    }

    public void setSince(Instant since) {
      this.since = since;
    }

    public int getNumber() {
      return number;
    }

    public void setNumber(int number) {
      this.number = number;
    }

    public UUID getItemId() {
      return itemId;
    }

    public void setItemId(UUID itemId) {
      this.itemId = itemId;
    }
  }

  @Entity
  static final class Reads {
    @PartitionKey private UUID itemId;
    private long times;

    public UUID getItemId() {
      return itemId;
    }

    public void setItemId(UUID itemId) {
      this.itemId = itemId;
    }

    public long getTimes() {
      return times;
    }

    public void setTimes(long times) {
      this.times = times;
    }
  }

  @Dao
  @DefaultNullSavingStrategy(NullSavingStrategy.SET_TO_NULL)
  interface Books {
    @Insert
    void save(Book book);

    @Insert(ttl = ":ttl", timestamp = ":at", nullSavingStrategy = NullSavingStrategy.DO_NOT_SET)
    void saveFor(Book book, int ttl, long at);

    @Insert(ifNotExists = true)
    boolean saveNew(Book book);

    @Select
    Book find(UUID itemId);

    @Select(customWhereClause = "title = :title")
    PagingIterable<Book> withTitle(String title);

    @Select(customWhereClause = "tags CONTAINS :tag", allowFiltering = true)
    PagingIterable<Book> withTag(String tag);

    @Select
    @StatementAttributes(pageSize = 10)
    PagingIterable<Book> all();

    @Update(ifExists = true)
    boolean update(Book book);

    @Update(customIfClause = "copies = :before")
    boolean updateIf(Book book, int before);

    @Update(customIfClause = "copies = :before")
    ResultSet tryUpdate(Book book, int before);

    @Update(customWhereClause = "item_id IN (:first, :second)", nullSavingStrategy = NullSavingStrategy.DO_NOT_SET)
    void updateBoth(Book book, UUID first, UUID second);

    @Delete
    void delete(Book book);

    @Delete(entityClass = Book.class, ifExists = true)
    boolean deleteById(UUID itemId);

    @Delete(entityClass = Book.class, customIfClause = "copies < :copies")
    ResultSet deleteIfFewer(UUID itemId, int copies);

    @Query("SELECT count(*) FROM ${keyspaceId}.book")
    long count();

    @Query("SELECT title, copies AS left FROM ${keyspaceId}.book WHERE item_id = :itemId")
    Row titleOf(UUID itemId);

    @GetEntity
    Book of(Row row);

    @GetEntity(lenient = true)
    Book partOf(Row row);

    @SetEntity
    BoundStatement bind(Book book, BoundStatement statement);

    @SetEntity(lenient = true)
    void bindPart(Book book, BoundStatementBuilder statement);
  }

  @Dao
  interface Loans {
    @Insert
    CompletionStage<Void> save(Loan loan);

    @Select
    PagingIterable<Loan> of(String reader);

    @Select
    PagingIterable<Loan> of(String reader, Instant since);

    @Select(customWhereClause = "reader = :reader AND since >= :first", orderBy = {"since ASC"}, limit = ":most")
    Stream<Loan> from(String reader, Instant first, int most);

    @Select(customWhereClause = "reader IN :readers", perPartitionLimit = "1")
    PagingIterable<Loan> lastOfEach(List<String> readers);

    @Select
    @StatementAttributes(pageSize = 25)
    CompletionStage<MappedAsyncPagingIterable<Loan>> pagesOf(String reader);

    @Delete(entityClass = Loan.class)
    void deleteSince(String reader, Instant since);

    @Delete(entityClass = Loan.class, customWhereClause = "reader = :reader AND since < :before")
    void deleteBefore(String reader, Instant before);
  }

  @Dao
  interface Counts {
    @Increment(entityClass = Reads.class)
    void add(UUID itemId, long times);

    @Select
    Reads find(UUID itemId);
  }

  @Mapper
  interface Access {
    @DaoFactory
    Books books(@DaoKeyspace CqlIdentifier keyspace);

    @DaoFactory
    Loans loans(@DaoKeyspace CqlIdentifier keyspace);

    @DaoFactory
    Counts counts(@DaoKeyspace CqlIdentifier keyspace);
  }
}
