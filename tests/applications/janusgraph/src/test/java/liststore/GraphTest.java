package liststore;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.apache.tinkerpop.gremlin.process.traversal.Order;
import org.apache.tinkerpop.gremlin.process.traversal.P;
import org.apache.tinkerpop.gremlin.process.traversal.dsl.graph.GraphTraversalSource;
import org.apache.tinkerpop.gremlin.process.traversal.dsl.graph.__;
import org.apache.tinkerpop.gremlin.structure.Direction;
import org.apache.tinkerpop.gremlin.structure.Edge;
import org.apache.tinkerpop.gremlin.structure.Vertex;
import org.apache.tinkerpop.gremlin.structure.VertexProperty;
import org.janusgraph.core.Cardinality;
import org.janusgraph.core.EdgeLabel;
import org.janusgraph.core.JanusGraph;
import org.janusgraph.core.JanusGraphException;
import org.janusgraph.core.JanusGraphFactory;
import org.janusgraph.core.JanusGraphTransaction;
import org.janusgraph.core.JanusGraphVertex;
import org.janusgraph.core.Multiplicity;
import org.janusgraph.core.PropertyKey;
import org.janusgraph.core.SchemaViolationException;
import org.janusgraph.core.attribute.Geoshape;
import org.janusgraph.core.schema.ConsistencyModifier;
import org.janusgraph.core.schema.JanusGraphIndex;
import org.janusgraph.core.schema.JanusGraphManagement;
import org.janusgraph.core.schema.SchemaAction;
import org.janusgraph.core.schema.SchemaStatus;
import org.janusgraph.example.GraphOfTheGodsFactory;
import org.janusgraph.graphdb.database.management.ManagementSystem;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A graph in a keyspace: schema, indexes, transactions, traversals; open, closed and open again. */
class GraphTest {
  private static int keyspaces;

  private String keyspace;
  private JanusGraph graph;

  private JanusGraph open() {
    return JanusGraphFactory.build().set("storage.backend", "cql").set("storage.hostname", "127.0.0.1")
        .set("storage.cql.keyspace", keyspace).set("storage.cql.local-datacenter", "datacenter1")
        .set("storage.cql.request-timeout", 60_000).set("ids.block-size", 1000).open();
  }

  @BeforeEach
  void start() {
    keyspace = "graph_" + keyspaces++;
    graph = open();
  }

  @AfterEach
  void stop() throws Exception {
    if (graph.isOpen()) JanusGraphFactory.drop(graph);
  }

  private void reopen() {
    graph.close();
    graph = open();
  }

  private void makePeople() {
    JanusGraphManagement schema = graph.openManagement();
    PropertyKey name = schema.makePropertyKey("name").dataType(String.class).make();
    schema.makePropertyKey("age").dataType(Integer.class).make();
    schema.makePropertyKey("nickname").dataType(String.class).cardinality(Cardinality.LIST).make();
    schema.makePropertyKey("tag").dataType(String.class).cardinality(Cardinality.SET).make();
    PropertyKey since = schema.makePropertyKey("since").dataType(Integer.class).make();
    EdgeLabel knows = schema.makeEdgeLabel("knows").multiplicity(Multiplicity.SIMPLE).make();
    schema.makeEdgeLabel("mother").multiplicity(Multiplicity.MANY2ONE).make();
    schema.makeVertexLabel("person").make();
    JanusGraphIndex byName = schema.buildIndex("byName", Vertex.class).addKey(name).unique().buildCompositeIndex();
    schema.setConsistency(byName, ConsistencyModifier.LOCK);
    schema.setConsistency(name, ConsistencyModifier.LOCK);
    schema.buildEdgeIndex(knows, "knowsBySince", Direction.BOTH, Order.desc, since);
    schema.commit();
  }

  private static Vertex person(GraphTraversalSource g, String name) {
    return g.addV("person").property("name", name).next();
  }

  /** Person 0 knows persons 1 to count - 1, since the year of their number. */
  private void makeCircle(int count) {
    makePeople();
    GraphTraversalSource g = graph.traversal();
    Vertex centre = person(g, "person 0");
    for (int i = 1; i < count; ++i) {
      Vertex other = g.addV("person").property("name", "person " + i).property("age", i % 10).next();
      g.addE("knows").from(centre).to(other).property("since", i).iterate();
    }
    g.tx().commit();
  }

  @Test
  void graphOfTheGods() {
    GraphOfTheGodsFactory.loadWithoutMixedIndex(graph, true);
    reopen();
    GraphTraversalSource g = graph.traversal();
    assertEquals("hercules", g.V().has("name", "saturn").in("father").in("father").values("name").next());
    assertEquals(Set.of("god", "human"), g.V().has("name", "hercules").out("father", "mother").label().toSet());
    assertEquals(List.of("cerberus", "hydra", "nemean"),
        g.V().has("name", "hercules").out("battled").values("name").order().toList());
    assertEquals(List.of("hydra", "cerberus"),
        g.V().has("name", "hercules").outE("battled").has("time", P.gt(1)).order().by("time").inV().values("name")
            .toList());
    assertEquals(List.of(Map.of("god", "jupiter", "lives", "sky"), Map.of("god", "neptune", "lives", "sea")),
        g.V().has("name", "pluto").out("brother").as("god").out("lives").as("lives")
            .<Object>select("god", "lives").by("name").order().by(__.select("god")).toList());
    assertEquals(12, g.V().count().next());
    assertEquals(17, g.E().count().next());
    Edge nemean = g.V().has("name", "hercules").outE("battled").has("time", 1).next();
    assertEquals(Geoshape.point(38.1f, 23.7f), nemean.value("place"));
  }

  @Test
  void schemaIsThereAgain() {
    makePeople();
    reopen();
    JanusGraphManagement schema = graph.openManagement();
    assertEquals(Integer.class, schema.getPropertyKey("age").dataType());
    assertEquals(Cardinality.LIST, schema.getPropertyKey("nickname").cardinality());
    assertEquals(Multiplicity.MANY2ONE, schema.getEdgeLabel("mother").multiplicity());
    JanusGraphIndex byName = schema.getGraphIndex("byName");
    assertTrue(byName.isUnique());
    assertEquals(SchemaStatus.ENABLED, byName.getIndexStatus(schema.getPropertyKey("name")));
    schema.rollback();
  }

  @Test
  void propertiesOfAllKinds() {
    makePeople();
    GraphTraversalSource g = graph.traversal();
    Vertex ada = person(g, "Ada");
    ada.property(VertexProperty.Cardinality.list, "nickname", "A");
    ada.property(VertexProperty.Cardinality.list, "nickname", "A");
    ada.property(VertexProperty.Cardinality.set, "tag", "x");
    ada.property(VertexProperty.Cardinality.set, "tag", "x");
    ada.property(VertexProperty.Cardinality.set, "tag", "y", "since", 1843);
    ada.property("age", 36);
    ada.property("age", 37);
    g.tx().commit();
    reopen();
    g = graph.traversal();
    assertEquals(List.of("A", "A"), g.V().has("name", "Ada").values("nickname").toList());
    assertEquals(List.of("x", "y"), g.V().has("name", "Ada").values("tag").order().toList());
    assertEquals(List.of(1843), g.V().has("name", "Ada").properties("tag").values("since").toList());
    assertEquals(List.of(37), g.V().has("name", "Ada").values("age").toList());
  }

  @Test
  void rolledBackIsNotThere() {
    makePeople();
    GraphTraversalSource g = graph.traversal();
    person(g, "Ada");
    g.tx().rollback();
    assertFalse(g.V().has("name", "Ada").hasNext());
    assertEquals(0, g.V().count().next());
  }

  @Test
  void uniqueNamesAreUnique() {
    makePeople();
    GraphTraversalSource g = graph.traversal();
    person(g, "Ada");
    g.tx().commit();
    assertThrows(SchemaViolationException.class, () -> person(g, "Ada"));
    g.tx().rollback();
  }

  @Test
  void locksAreHeldByOne() {
    makePeople();
    Object id = person(graph.traversal(), "Ada").id();
    graph.tx().commit();
    JanusGraphTransaction first = graph.newTransaction();
    JanusGraphTransaction second = graph.newTransaction();
    for (JanusGraphTransaction transaction : List.of(first, second)) {
      JanusGraphVertex ada = (JanusGraphVertex) transaction.traversal().V(id).next();
      assertEquals("Ada", ada.value("name"));
      ada.property("name", transaction == first ? "Eve" : "Bob");
    }
    first.commit();
    assertThrows(JanusGraphException.class, second::commit);
    assertEquals(List.of("Eve"), graph.traversal().V(id).values("name").toList());
  }

  @Test
  void multiplicitiesHold() {
    makePeople();
    GraphTraversalSource g = graph.traversal();
    Vertex ada = person(g, "Ada");
    Vertex eve = person(g, "Eve");
    Vertex ann = person(g, "Ann");
    ada.addEdge("mother", eve);
    ada.addEdge("knows", eve);
    g.tx().commit();
    assertThrows(SchemaViolationException.class, () -> g.V().has("name", "Ada").next().addEdge("mother", ann));
    g.tx().rollback();
    assertThrows(SchemaViolationException.class, () -> g.V().has("name", "Ada").next().addEdge("knows",
        graph.traversal().V().has("name", "Eve").next()));
    g.tx().rollback();
  }

  @Test
  void vertexWithManyEdgesIsReadByItsIndex() {
    makeCircle(3000);
    reopen();
    GraphTraversalSource g = graph.traversal();
    assertEquals(2999, g.V().has("name", "person 0").out("knows").count().next());
    assertEquals(List.of("person 2999", "person 2998", "person 2997"), g.V().has("name", "person 0").outE("knows")
        .order().by("since", Order.desc).limit(3).inV().values("name").toList());
    assertEquals(IntStream.range(100, 110).mapToObj(i -> "person " + i).toList(),
        g.V().has("name", "person 0").outE("knows").has("since", P.between(100, 110)).order().by("since").inV()
            .values("name").toList());
    assertEquals(300, g.V().has("name", "person 0").out("knows").has("age", 7).count().next());
  }

  @Test
  void wholeGraphIsScanned() {
    makeCircle(1200);
    GraphTraversalSource g = graph.traversal();
    assertEquals(1200, g.V().count().next());
    assertEquals(1199, g.E().count().next());
    assertEquals(120, g.V().hasLabel("person").groupCount().by(__.coalesce(__.values("age"), __.constant(-1)))
        .next().get(3));
  }

  @Test
  void longPaths() {
    makePeople();
    GraphTraversalSource g = graph.traversal();
    Vertex last = person(g, "person 0");
    for (int i = 1; i < 60; ++i) {
      Vertex next = person(g, "person " + i);
      last.addEdge("knows", next, "since", i);
      last = next;
    }
    g.tx().commit();
    assertEquals(60, g.V().has("name", "person 0").repeat(__.out("knows").simplePath())
        .until(__.has("name", "person 59")).path().next().size());
    assertEquals(List.of("person 40"),
        g.V().has("name", "person 50").repeat(__.in("knows")).times(10).values("name").toList());
  }

  @Test
  void removedIsGoneFromTheIndexToo() {
    makeCircle(20);
    GraphTraversalSource g = graph.traversal();
    g.V().has("name", "person 3").drop().iterate();
    g.V().has("name", "person 0").outE("knows").has("since", 5).drop().iterate();
    g.V().has("name", "person 7").properties("age").drop().iterate();
    g.V().has("name", "person 9").property("name", "person IX").iterate();
    g.tx().commit();
    reopen();
    g = graph.traversal();
    assertFalse(g.V().has("name", "person 3").hasNext());
    assertFalse(g.V().has("name", "person 9").hasNext());
    assertTrue(g.V().has("name", "person IX").hasNext());
    assertFalse(g.V().has("name", "person 7").values("age").hasNext());
    assertEquals(17, g.V().has("name", "person 0").out("knows").count().next());
  }

  @Test
  void indexOverWhatIsThere() throws Exception {
    makeCircle(200);
    graph.tx().rollback();
    JanusGraphManagement schema = graph.openManagement();
    schema.buildIndex("byAge", Vertex.class).addKey(schema.getPropertyKey("age")).buildCompositeIndex();
    schema.commit();
    ManagementSystem.awaitGraphIndexStatus(graph, "byAge").status(SchemaStatus.REGISTERED).call();
    schema = graph.openManagement();
    var metrics = schema.updateIndex(schema.getGraphIndex("byAge"), SchemaAction.REINDEX).get();
    schema.commit();
    assertTrue(metrics.getCustom("adds") >= 199, () -> "added " + metrics.getCustom("adds"));
    ManagementSystem.awaitGraphIndexStatus(graph, "byAge").status(SchemaStatus.ENABLED).call();
    assertEquals(20, graph.traversal().V().has("age", 4).count().next());
  }

  @Test
  void whatLivesForATimeHasTtl() {
    JanusGraphManagement schema = graph.openManagement();
    PropertyKey token = schema.makePropertyKey("token").dataType(String.class).make();
    schema.setTTL(token, java.time.Duration.ofHours(1));
    assertEquals(java.time.Duration.ofHours(1), schema.getTTL(token));
    schema.commit();
    Object id = graph.traversal().addV().property("token", "t").next().id();
    graph.tx().commit();
    assertEquals(List.of("t"), graph.traversal().V(id).values("token").toList());
  }

  @Test
  void twoInstancesSeeOneGraph() {
    makeCircle(10);
    try (JanusGraph other = open()) {
      GraphTraversalSource g = other.traversal();
      assertEquals(9, g.V().has("name", "person 0").out("knows").count().next());
      // Blocks of ids are claimed by one of them alone.
      for (int i = 0; i < 500; ++i) {
        person(g, "other " + i);
        person(graph.traversal(), "mine " + i);
      }
      g.tx().commit();
      graph.tx().commit();
    }
    reopen();
    assertEquals(1010, graph.traversal().V().id().dedup().count().next());
    assertEquals(1010, graph.traversal().V().values("name").dedup().count().next());
  }

  @Test
  void droppedIsEmpty() throws Exception {
    makeCircle(5);
    JanusGraphFactory.drop(graph);
    graph = open();
    assertEquals(0, graph.traversal().V().count().next());
    makePeople();
  }
}
