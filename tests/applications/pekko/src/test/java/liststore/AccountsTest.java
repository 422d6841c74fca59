package liststore;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.Serializable;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.Props;
import org.apache.pekko.actor.typed.SpawnProtocol;
import org.apache.pekko.actor.typed.javadsl.AskPattern;
import org.apache.pekko.persistence.cassandra.cleanup.Cleanup;
import org.apache.pekko.persistence.cassandra.query.javadsl.CassandraReadJournal;
import org.apache.pekko.persistence.query.EventEnvelope;
import org.apache.pekko.persistence.query.Offset;
import org.apache.pekko.persistence.query.PersistenceQuery;
import org.apache.pekko.persistence.typed.PersistenceId;
import org.apache.pekko.persistence.typed.javadsl.CommandHandler;
import org.apache.pekko.persistence.typed.javadsl.Effect;
import org.apache.pekko.persistence.typed.javadsl.EventHandler;
import org.apache.pekko.persistence.typed.javadsl.EventSourcedBehavior;
import org.apache.pekko.persistence.typed.javadsl.RetentionCriteria;
import org.apache.pekko.stream.javadsl.Sink;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import scala.jdk.javaapi.FutureConverters;

/** Accounts that are event-sourced actors: their events, snapshots, and queries by actor and by tag. */
class AccountsTest {
  sealed interface Command {}

  record Deposit(long amount, String tag, ActorRef<Long> replyTo) implements Command {}

  record DepositAll(List<Long> amounts, ActorRef<Long> replyTo) implements Command {}

  record Balance(ActorRef<Long> replyTo) implements Command {}

  record Stop(ActorRef<Long> replyTo) implements Command {}

  record Deposited(long amount, String tag) implements Serializable {}

  record State(long balance, long events) implements Serializable {}

  static final class Account extends EventSourcedBehavior<Command, Deposited, State> {
    private final boolean deletes;

    Account(String id, boolean deletes) {
      super(PersistenceId.ofUniqueId(id));
      this.deletes = deletes;
    }

    @Override
    public State emptyState() {
      return new State(0, 0);
    }

    @Override
    public CommandHandler<Command, Deposited, State> commandHandler() {
      return newCommandHandlerBuilder().forAnyState()
          .onCommand(Deposit.class, command -> Effect().persist(new Deposited(command.amount(), command.tag()))
              .thenReply(command.replyTo(), State::balance))
          .onCommand(DepositAll.class, command -> Effect()
              .persist(command.amounts().stream().map(amount -> new Deposited(amount, "")).toList())
              .thenReply(command.replyTo(), State::balance))
          .onCommand(Balance.class, (state, command) -> Effect().reply(command.replyTo(), state.balance()))
          .onCommand(Stop.class, (state, command) -> Effect().stop().thenReply(command.replyTo(), State::events))
          .build();
    }

    @Override
    public EventHandler<State, Deposited> eventHandler() {
      return newEventHandlerBuilder().forAnyState().onAnyEvent(
          (state, event) -> new State(state.balance() + event.amount(), state.events() + 1));
    }

    @Override
    public Set<String> tagsFor(Deposited event) {
      return event.tag().isEmpty() ? Set.of() : Set.of(event.tag().split(","));
    }

    @Override
    public RetentionCriteria retentionCriteria() {
      var every = RetentionCriteria.snapshotEvery(10, 2);
      return deletes ? every.withDeleteEventsOnSnapshot() : every;
    }
  }

  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static ActorSystem<SpawnProtocol.Command> system;
  private static CassandraReadJournal queries;

  @BeforeAll
  static void start() {
    system = ActorSystem.create(SpawnProtocol.create(), "accounts", Settings.of("accounts"));
    queries = PersistenceQuery.get(system)
        .getReadJournalFor(CassandraReadJournal.class, CassandraReadJournal.Identifier());
  }

  @AfterAll
  static void stop() throws Exception {
    system.terminate();
    system.getWhenTerminated().toCompletableFuture().get(60, TimeUnit.SECONDS);
  }

  private static <T> T get(CompletionStage<T> stage) throws Exception {
    return stage.toCompletableFuture().get(LIMIT.toSeconds(), TimeUnit.SECONDS);
  }

  private static ActorRef<Command> account(String id, boolean deletes) throws Exception {
    Behavior<Command> behavior = new Account(id, deletes);
    return get(AskPattern.ask(system,
        (ActorRef<ActorRef<Command>> replyTo) -> new SpawnProtocol.Spawn<>(behavior, id, Props.empty(), replyTo),
        LIMIT, system.scheduler()));
  }

  private interface WithReply {
    Command to(ActorRef<Long> replyTo);
  }

  private static long ask(ActorRef<Command> account, WithReply command) throws Exception {
    return get(AskPattern.ask(account, command::to, LIMIT, system.scheduler()));
  }

  private static void deposit(ActorRef<Command> account, int count, String tag) throws Exception {
    for (int i = 0; i < count; ++i) ask(account, replyTo -> new Deposit(1, tag, replyTo));
  }

  private static List<EventEnvelope> events(String id, long from, long to) throws Exception {
    return get(queries.currentEventsByPersistenceId(id, from, to).runWith(Sink.seq(), system));
  }

  private static List<Long> numbers(List<EventEnvelope> events) {
    return events.stream().map(EventEnvelope::sequenceNr).toList();
  }

  private static List<Long> range(long from, long to) {
    return LongStream.rangeClosed(from, to).boxed().toList();
  }

  @Test
  void recoversFromItsEvents() throws Exception {
    ActorRef<Command> first = account("recovers", false);
    deposit(first, 7, "");
    assertEquals(7, ask(first, Stop::new));
    assertEquals(7, ask(account("recovers", false), Balance::new));
  }

  @Test
  void recoversFromASnapshotOverSeveralPartitions() throws Exception {
    ActorRef<Command> first = account("long", false);
    deposit(first, 65, "");
    ask(first, Stop::new);
    ActorRef<Command> second = account("long", false);
    assertEquals(65, ask(second, Balance::new));
    deposit(second, 1, "");
    assertEquals(66, ask(second, Stop::new));
    assertEquals(range(1, 66), numbers(events("long", 0, Long.MAX_VALUE)));
    assertEquals(range(18, 43), numbers(events("long", 18, 43)));
  }

  @Test
  void severalEventsAreOneWrite() throws Exception {
    ActorRef<Command> account = account("several", false);
    assertEquals(60, ask(account, replyTo -> new DepositAll(List.of(10L, 20L, 30L), replyTo)));
    assertEquals(List.of(10L, 20L, 30L), events("several", 0, Long.MAX_VALUE).stream()
        .map(event -> ((Deposited) event.event()).amount()).toList());
  }

  @Test
  void eventsBeforeASnapshotAreDeleted() throws Exception {
    ActorRef<Command> account = account("deletes", true);
    deposit(account, 45, "");
    ask(account, Stop::new);
    // It is deleted after the reply.
    List<Long> left = numbers(events("deletes", 0, Long.MAX_VALUE));
    for (int turn = 0; turn < 100 && left.get(0) == 1; ++turn) {
      Thread.sleep(100);
      left = numbers(events("deletes", 0, Long.MAX_VALUE));
    }
    assertTrue(left.get(0) > 1, left::toString);
    assertEquals(range(left.get(0), 45), left);
    assertEquals(45, ask(account("deletes", true), Balance::new));
  }

  @Test
  void liveEventsOfAnActor() throws Exception {
    ActorRef<Command> account = account("live", false);
    deposit(account, 3, "");
    CompletionStage<List<EventEnvelope>> seen =
        queries.eventsByPersistenceId("live", 0, Long.MAX_VALUE).take(30).runWith(Sink.seq(), system);
    deposit(account, 27, "");
    assertEquals(range(1, 30), numbers(get(seen)));
  }

  @Test
  void eventsByTag() throws Exception {
    ActorRef<Command> red = account("red", false);
    ActorRef<Command> blue = account("blue", false);
    deposit(red, 5, "colour,red");
    deposit(blue, 5, "colour");
    deposit(blue, 2, "");
    List<EventEnvelope> seen =
        get(queries.eventsByTag("colour", Offset.noOffset()).take(10).runWith(Sink.seq(), system));
    for (String id : List.of("red", "blue")) {
      assertEquals(range(1, 5), numbers(seen.stream().filter(event -> event.persistenceId().equals(id)).toList()));
    }
    // What is there is all there is, and what follows an offset is what comes after it.
    assertEquals(5, get(queries.currentEventsByTag("red", Offset.noOffset()).runWith(Sink.seq(), system)).size());
    List<EventEnvelope> rest =
        get(queries.currentEventsByTag("colour", seen.get(6).offset()).runWith(Sink.seq(), system));
    assertEquals(seen.subList(7, 10).stream().map(EventEnvelope::offset).toList(),
        rest.stream().map(EventEnvelope::offset).toList());
    CompletionStage<List<EventEnvelope>> next =
        queries.eventsByTag("colour", seen.get(9).offset()).take(2).runWith(Sink.seq(), system);
    deposit(red, 2, "colour,red");
    assertEquals(List.of(6L, 7L), numbers(get(next)));
  }

  @Test
  void idsOfActors() throws Exception {
    for (int i = 0; i < 20; ++i) deposit(account("one-of-many-" + i, false), 1, "");
    Set<String> found =
        Set.copyOf(get(queries.currentPersistenceIds().runWith(Sink.seq(), system)));
    for (int i = 0; i < 20; ++i) assertTrue(found.contains("one-of-many-" + i), found::toString);
  }

  @Test
  void allOfAnActorIsDeleted() throws Exception {
    ActorRef<Command> account = account("gone", false);
    deposit(account, 25, "");
    ask(account, Stop::new);
    get(FutureConverters.asJava(new Cleanup(system).deleteAll("gone", false)));
    assertEquals(List.of(), events("gone", 0, Long.MAX_VALUE));
    assertEquals(0, ask(account("gone", false), Balance::new));
  }
}
