package liststore;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.enhanced.dynamodb.DynamoDbEnhancedClient;
import software.amazon.awssdk.enhanced.dynamodb.DynamoDbTable;
import software.amazon.awssdk.enhanced.dynamodb.Key;
import software.amazon.awssdk.enhanced.dynamodb.TableSchema;
import software.amazon.awssdk.enhanced.dynamodb.mapper.annotations.DynamoDbBean;
import software.amazon.awssdk.enhanced.dynamodb.mapper.annotations.DynamoDbPartitionKey;
import software.amazon.awssdk.enhanced.dynamodb.mapper.annotations.DynamoDbSecondarySortKey;
import software.amazon.awssdk.enhanced.dynamodb.mapper.annotations.DynamoDbSortKey;
import software.amazon.awssdk.enhanced.dynamodb.model.QueryConditional;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.*;

/**
 * The AWS SDK for Java v2, unmodified. LISTSTORE_BINARY names the program, which listens on loopback, on a free port, and
 * ends with its standard input; LISTSTORE_DYNAMODB=http://HOST:PORT another endpoint.
 */
class DynamoDbTest {
  private static Process process;
  private static URI endpoint;
  private static DynamoDbClient client;

  @BeforeAll
  static void start() throws IOException {
    String given = String.valueOf(System.getenv("LISTSTORE_DYNAMODB"));
    if (given.startsWith("http")) {
      endpoint = URI.create(given);
    } else {
      process =
          new ProcessBuilder(
                  System.getenv("LISTSTORE_BINARY"), "serve", "--cql-port", "0", "--dynamodb-port", "0", "--until-eof")
              .redirectError(ProcessBuilder.Redirect.INHERIT)
              .start();
      String line = new BufferedReader(new InputStreamReader(process.getInputStream())).readLine();
      Matcher matcher = Pattern.compile("\"dynamodb_port\":([0-9]+)").matcher(String.valueOf(line));
      if (!matcher.find()) throw new IOException("the server does not say where it listens: " + line);
      endpoint = URI.create("http://127.0.0.1:" + matcher.group(1));
    }
    client =
        DynamoDbClient.builder().endpointOverride(endpoint).region(Region.US_EAST_1).credentialsProvider(CREDENTIALS).build();
  }

  @AfterAll
  static void stop() throws Exception {
    client.close();
    if (process == null) return;
    process.getOutputStream().close();
    assertEquals(0, process.waitFor());
  }

  private static final StaticCredentialsProvider CREDENTIALS =
      StaticCredentialsProvider.create(AwsBasicCredentials.create("AKID", "secret"));

  private static AttributeValue s(String text) {
    return AttributeValue.fromS(text);
  }

  private static AttributeValue n(long number) {
    return AttributeValue.fromN(Long.toString(number));
  }

  private static Map<String, AttributeValue> key(long at) {
    return Map.of("pk", s("ann"), "sk", n(at));
  }

  private static Map<String, AttributeValue> row(long at) {
    Map<String, AttributeValue> made = new HashMap<>(key(at));
    made.put("v", s("v" + at % 3));
    return made;
  }

  /** The name of a new table of lists, with an index by value. */
  private static String newTable() {
    String name = "java-" + UUID.randomUUID();
    client.createTable(
        table ->
            table
                .tableName(name)
                .billingMode(BillingMode.PAY_PER_REQUEST)
                .attributeDefinitions(
                    definition("pk", ScalarAttributeType.S), definition("sk", ScalarAttributeType.N), definition("v", ScalarAttributeType.S))
                .keySchema(element("pk", KeyType.HASH), element("sk", KeyType.RANGE))
                .localSecondaryIndexes(
                    LocalSecondaryIndex.builder()
                        .indexName("by_v")
                        .keySchema(element("pk", KeyType.HASH), element("v", KeyType.RANGE))
                        .projection(Projection.builder().projectionType(ProjectionType.ALL).build())
                        .build()));
    TableDescription described =
        client.waiter().waitUntilTableExists(table -> table.tableName(name)).matched().response().get().table();
    assertEquals(TableStatus.ACTIVE, described.tableStatus());
    assertEquals("by_v", described.localSecondaryIndexes().get(0).indexName());
    return name;
  }

  private static AttributeDefinition definition(String name, ScalarAttributeType type) {
    return AttributeDefinition.builder().attributeName(name).attributeType(type).build();
  }

  private static KeySchemaElement element(String name, KeyType type) {
    return KeySchemaElement.builder().attributeName(name).keyType(type).build();
  }

  private static void fill(String table, int count) {
    for (int start = 0; start < count; start += 25) {
      List<WriteRequest> writes =
          IntStream.range(start, Math.min(start + 25, count))
              .mapToObj(at -> WriteRequest.builder().putRequest(put -> put.item(row(at))).build())
              .collect(Collectors.toList());
      assertTrue(client.batchWriteItem(batch -> batch.requestItems(Map.of(table, writes))).unprocessedItems().isEmpty());
    }
  }

  @Test
  void anItemOfAllTypes() {
    String table = newTable();
    Map<String, AttributeValue> item = new HashMap<>(row(1));
    item.put("b", AttributeValue.fromB(SdkBytes.fromByteArray(new byte[] {0, -1})));
    item.put("flag", AttributeValue.fromBool(true));
    item.put("nothing", AttributeValue.fromNul(true));
    item.put("texts", AttributeValue.fromSs(List.of("a", "b")));
    item.put("numbers", AttributeValue.fromNs(List.of("1")));
    item.put("list", AttributeValue.fromL(List.of(s(""), n(2), AttributeValue.fromL(List.of()))));
    item.put("map", AttributeValue.fromM(Map.of("x", AttributeValue.fromM(Map.of()))));
    client.putItem(put -> put.tableName(table).item(item).conditionExpression("attribute_not_exists(pk)"));
    ConditionalCheckFailedException failed =
        assertThrows(
            ConditionalCheckFailedException.class,
            () ->
                client.putItem(
                    put ->
                        put.tableName(table)
                            .item(item)
                            .conditionExpression("attribute_not_exists(pk)")
                            .returnValuesOnConditionCheckFailure(ReturnValuesOnConditionCheckFailure.ALL_OLD)));
    assertTrue(failed.hasItem());
    Map<String, AttributeValue> found = client.getItem(get -> get.tableName(table).key(key(1)).consistentRead(true)).item();
    assertEquals(item, found);
    Map<String, AttributeValue> updated =
        client
            .updateItem(
                update ->
                    update
                        .tableName(table)
                        .key(key(1))
                        .updateExpression("SET #m.#y = :y, #list = list_append(#list, :l) ADD n :one REMOVE b")
                        .conditionExpression("contains(texts, :a) AND size(#list) = :three")
                        .expressionAttributeNames(Map.of("#m", "map", "#y", "y", "#list", "list"))
                        .expressionAttributeValues(
                            Map.of(":y", s("z"), ":l", AttributeValue.fromL(List.of(n(3))), ":one", n(1), ":a", s("a"), ":three", n(3)))
                        .returnValues(ReturnValue.ALL_NEW))
            .attributes();
    assertEquals(n(1), updated.get("n"));
    assertEquals(s("z"), updated.get("map").m().get("y"));
    assertEquals(4, updated.get("list").l().size());
    assertFalse(updated.containsKey("b"));
    assertEquals(updated, client.deleteItem(delete -> delete.tableName(table).key(key(1)).returnValues(ReturnValue.ALL_OLD)).attributes());
    assertFalse(client.getItem(get -> get.tableName(table).key(key(1))).hasItem());
    client.deleteTable(gone -> gone.tableName(table));
    assertThrows(ResourceNotFoundException.class, () -> client.describeTable(gone -> gone.tableName(table)));
  }

  @Test
  void pagesOfQueriesAndScans() {
    String table = newTable();
    fill(table, 60);
    List<Long> down =
        client
            .queryPaginator(
                query ->
                    query.tableName(table).keyConditionExpression("pk = :p").expressionAttributeValues(Map.of(":p", s("ann"))).limit(7).scanIndexForward(false))
            .items()
            .stream()
            .map(item -> Long.parseLong(item.get("sk").n()))
            .collect(Collectors.toList());
    assertEquals(IntStream.range(0, 60).mapToObj(at -> 59L - at).collect(Collectors.toList()), down);
    long byValue =
        client
            .queryPaginator(
                query ->
                    query
                        .tableName(table)
                        .indexName("by_v")
                        .keyConditionExpression("pk = :p AND v = :v")
                        .expressionAttributeValues(Map.of(":p", s("ann"), ":v", s("v1")))
                        .limit(6))
            .items()
            .stream()
            .distinct()
            .count();
    assertEquals(20, byValue);
    assertEquals(60, client.scanPaginator(scan -> scan.tableName(table).limit(11)).items().stream().distinct().count());
    client.deleteTable(gone -> gone.tableName(table));
  }

  @Test
  void batchesAndTransactions() {
    String table = newTable();
    fill(table, 30);
    List<Map<String, AttributeValue>> keys = IntStream.range(20, 40).mapToObj(DynamoDbTest::key).collect(Collectors.toList());
    BatchGetItemResponse found = client.batchGetItem(get -> get.requestItems(Map.of(table, KeysAndAttributes.builder().keys(keys).build())));
    assertEquals(10, found.responses().get(table).size());
    assertTrue(found.unprocessedKeys().isEmpty());
    TransactWriteItem put = TransactWriteItem.builder().put(one -> one.tableName(table).item(row(77))).build();
    TransactWriteItem check =
        TransactWriteItem.builder()
            .conditionCheck(one -> one.tableName(table).key(key(0)).conditionExpression("attribute_not_exists(pk)"))
            .build();
    TransactionCanceledException cancelled =
        assertThrows(TransactionCanceledException.class, () -> client.transactWriteItems(all -> all.transactItems(put, check)));
    assertEquals(
        List.of("None", "ConditionalCheckFailed"),
        cancelled.cancellationReasons().stream().map(CancellationReason::code).collect(Collectors.toList()));
    TransactWriteItem add =
        TransactWriteItem.builder()
            .update(one -> one.tableName(table).key(key(1)).updateExpression("ADD n :one").expressionAttributeValues(Map.of(":one", n(1))))
            .build();
    String token = UUID.randomUUID().toString();
    for (int time = 0; time < 2; ++time) client.transactWriteItems(all -> all.transactItems(put, add).clientRequestToken(token));
    List<ItemResponse> got =
        client
            .transactGetItems(
                all ->
                    all.transactItems(
                        TransactGetItem.builder().get(one -> one.tableName(table).key(key(1))).build(),
                        TransactGetItem.builder().get(one -> one.tableName(table).key(key(99))).build()))
            .responses();
    assertEquals(n(1), got.get(0).item().get("n"));
    assertFalse(got.get(1).hasItem());
    client.deleteTable(gone -> gone.tableName(table));
  }

  @Test
  void timeToLive() {
    String table = newTable();
    client.updateTimeToLive(
        update -> update.tableName(table).timeToLiveSpecification(ttl -> ttl.attributeName("ends").enabled(true)));
    assertEquals("ends", client.describeTimeToLive(one -> one.tableName(table)).timeToLiveDescription().attributeName());
    client.deleteTable(gone -> gone.tableName(table));
  }

  @Test
  void requestsAtOnceByTheAsyncClient() {
    String table = newTable();
    try (DynamoDbAsyncClient async =
        DynamoDbAsyncClient.builder().endpointOverride(endpoint).region(Region.US_EAST_1).credentialsProvider(CREDENTIALS).build()) {
      List<CompletableFuture<?>> running = new ArrayList<>();
      for (int at = 0; at < 200; ++at) {
        long number = at;
        running.add(
            async
                .putItem(put -> put.tableName(table).item(row(number)))
                .thenCompose(done -> async.getItem(get -> get.tableName(table).key(key(number))))
                .thenAccept(got -> assertEquals(row(number), got.item())));
      }
      CompletableFuture.allOf(running.toArray(new CompletableFuture<?>[0])).join();
      List<Long> seen = new ArrayList<>();
      async
          .queryPaginator(
              query -> query.tableName(table).keyConditionExpression("pk = :p").expressionAttributeValues(Map.of(":p", s("ann"))).limit(33))
          .items()
          .subscribe(item -> seen.add(Long.parseLong(item.get("sk").n())))
          .join();
      assertEquals(IntStream.range(0, 200).mapToObj(Long::valueOf).collect(Collectors.toList()), seen);
    }
    client.deleteTable(gone -> gone.tableName(table));
  }

  /** A row as the enhanced client maps it. */
  @DynamoDbBean
  public static class Click {
    private String user;
    private long at;
    private String value;

    @DynamoDbPartitionKey
    public String getPk() {
      return user;
    }

    public void setPk(String user) {
      this.user = user;
    }

    @DynamoDbSortKey
    public long getSk() {
      return at;
    }

    public void setSk(long at) {
      this.at = at;
    }

    @DynamoDbSecondarySortKey(indexNames = "by_v")
    public String getV() {
      return value;
    }

    public void setV(String value) {
      this.value = value;
    }
  }

  @Test
  void theEnhancedClient() {
    DynamoDbEnhancedClient enhanced = DynamoDbEnhancedClient.builder().dynamoDbClient(client).build();
    DynamoDbTable<Click> table = enhanced.table("java-" + UUID.randomUUID(), TableSchema.fromBean(Click.class));
    table.createTable();
    client.waiter().waitUntilTableExists(one -> one.tableName(table.tableName()));
    for (int at = 0; at < 10; ++at) {
      Click click = new Click();
      click.setPk("ann");
      click.setSk(at);
      click.setV("v" + at % 2);
      table.putItem(click);
    }
    assertEquals("v1", table.getItem(Key.builder().partitionValue("ann").sortValue(3).build()).getV());
    assertEquals(
        5,
        table.index("by_v").query(QueryConditional.keyEqualTo(Key.builder().partitionValue("ann").sortValue("v1").build())).stream()
            .mapToInt(page -> page.items().size())
            .sum());
    assertEquals(
        4,
        table.query(QueryConditional.sortBetween(
                Key.builder().partitionValue("ann").sortValue(3).build(), Key.builder().partitionValue("ann").sortValue(6).build()))
            .items().stream().count());
    Click deleted = table.deleteItem(Key.builder().partitionValue("ann").sortValue(3).build());
    assertEquals(3, deleted.getSk());
    table.deleteTable();
  }
}
