// The differential test's statements against any CQL server, and the model's answers: where does it
// differ from ScyllaDB's rules, which liststore follows?
//
//   differential_test --against HOST:PORT
//
// Differences that are known by name are counted: refusals of a kind of statement with an error of
// its own, and answers that are just the model's by another rule. Any other is printed with all
// that the tables have seen. LISTSTORE_SEED, LISTSTORE_STEPS: as in the tests. Of the server
// nothing but a keyspace liststore_against_... is touched, which has the number of the process in
// its name, so that two may run at a time.
//
// A statement that the server does not answer in time ends its run, with a message, and the next
// one goes on over another connection.
//
// Exit status: 0 no difference that has no name; 1 there is one, or the server answers no longer; 2
// wrong usage, or no server.
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "tests/conformance/cql_session.h"
#include "tests/conformance/known_differences.h"
#include "tests/conformance/random_batches.h"
#include "tests/conformance/random_conditions.h"
#include "tests/conformance/random_counters.h"
#include "tests/conformance/random_moments.h"
#include "tests/conformance/random_schema_changes.h"
#include "tests/conformance/random_statements.h"
#include "tests/conformance/random_types.h"
#include "tests/conformance/read_model.h"
#include "tests/conformance/table_model.h"
#include "tests/conformance/view_model.h"
#include "tests/support/seed.h"

namespace liststore::testing {
namespace {

constexpr uint64_t kStatementsPerRun = 250;
constexpr size_t kPagesMax = 10'000;
constexpr int kStatementSecondsMax = 120;  // a Cassandra takes its time to drop tables
constexpr int kConnectTries = 5;
constexpr int64_t kStartMicros = 1'700'000'000'000'000;
// No write has a timestamp that is further ahead.
constexpr int64_t kTimestampSpreadMicros = 3000;
// In the model, what writes with conditions have: the server's time is after all of the others.
constexpr int64_t kServersMicros = 1'000'000'000'000'000;

using SystemClock = std::chrono::system_clock;

std::string Shown(const std::vector<ResultRow>& rows) {
  std::string text;
  for (const ResultRow& row : rows) {
    text += "   ";
    for (const auto& value : row) {
      text += value ? " 0x" : " null";
      for (const char c : value.value_or("")) {
        char digits[3];
        std::snprintf(digits, sizeof(digits), "%02x", static_cast<unsigned char>(c));
        text += digits;
      }
    }
    text += "\n";
  }
  return text + "    (" + std::to_string(rows.size()) + " rows)\n";
}

int64_t NowSeconds() {
  return std::chrono::floor<std::chrono::seconds>(SystemClock::now()).time_since_epoch().count();
}

int64_t NowMicros() {
  return std::chrono::floor<std::chrono::microseconds>(SystemClock::now())
      .time_since_epoch()
      .count();
}

// Returns when enough of a second is left for a statement: TTLs count whole seconds, the model has
// to count the same, and nothing may be sent twice.
void AwaitRoomInSecond() {
  constexpr auto kRoom = std::chrono::milliseconds(150);
  const auto now = SystemClock::now();
  const auto next = std::chrono::floor<std::chrono::seconds>(now) + std::chrono::seconds(1);
  if (next - now < kRoom) std::this_thread::sleep_until(next);
}

// Tables, from CREATE to DROP. The clock is the server's: no TTL ends while a run lasts. Every
// write has a timestamp of its own, long before those of writes with conditions, which are the
// server's: where a run has these, WRITETIME is not asked for.
class Run {
 public:
  // `answers_as_cassandra`: a Cassandra, or a liststore that is like one.
  Run(CqlSession& session, std::string keyspace, bool is_cassandra, bool answers_as_cassandra,
      uint64_t seed, std::map<std::string, uint64_t>& differences)
      : session_(session),
        tables_{.keyspace = std::move(keyspace)},
        is_cassandra_(is_cassandra),
        answers_as_cassandra_(answers_as_cassandra),
        seed_(seed),
        random_(seed),
        differences_(differences) {}

  // False: there was a difference without a name.
  bool Execute(uint64_t steps) {
    has_conditions_ = random_.OneIn(2);
    Say("DROP KEYSPACE IF EXISTS " + tables_.keyspace);
    Say("CREATE KEYSPACE " + tables_.keyspace +
        " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
    tables_.types = RandomUserTypes(random_, tables_.keyspace);
    for (const std::string& create : tables_.types.CreateStatements()) Say(create);
    for (const char* name : {".a", ".b"}) {
      ModelSchema schema = RandomSchema(random_, tables_.keyspace + name, tables_.types);
      if (schema.default_ttl_seconds > 0) schema.default_ttl_seconds = 1000;
      tables_.models.push_back(std::make_unique<TableModel>(schema, tables_.list_counts));
      for (const std::string& create : schema.CreateStatements()) Say(create);
    }
    for (const auto& model : tables_.models) Acquaint(*model);
    tables_.counters = std::make_unique<TableModel>(
        RandomCounterSchema(random_, tables_.keyspace + ".counters", tables_.types),
        tables_.list_counts);
    for (const std::string& create : tables_.counters->schema().CreateStatements()) Say(create);
    Say(moments_.CreateStatement());
    for (uint64_t i = random_.Below(3); i > 0 && !is_over(); --i) {
      Change(MakeRandomView(random_, tables_, ChangeOptions()));
    }
    for (uint64_t step = 0; step < steps && !is_over(); ++step) Step();
    for (size_t i = 0; i < tables_.readables() && !is_over(); ++i) {
      ReadAllOf(tables_.readable(i));
    }
    return !failed_;
  }
  // The machine stood still for longer than a statement may take: the model cannot know any more.
  bool is_cut() const { return is_cut_; }

 private:
  bool is_over() const { return failed_ || is_cut_; }

  void Say(std::string statement) {
    if (is_over()) return;
    // Only ScyllaDB has local indexes.
    const size_t local = statement.find(" ((");
    if (is_cassandra_ && statement.starts_with("CREATE INDEX") && local != std::string::npos) {
      statement.replace(local, statement.find("), ") + 3 - local, " (");
    }
    history_ += statement + ";\n";
    const CqlAnswer answer = session_.Run({statement, {}, false});
    if (!IsLate(statement) && !answer.error.empty()) Fail(answer.error);
  }

  // The run ends where it is, as if the machine had stood still.
  bool IsLate(const std::string& statement) {
    if (!session_.is_late()) return false;
    std::printf("the run of seed %llu ended: no answer within %d s to\n%s;\n\n",
                static_cast<unsigned long long>(seed_), kStatementSecondsMax, statement.c_str());
    is_cut_ = true;
    return true;
  }

  // ---- Changes of the schema

  SchemaChangeOptions ChangeOptions() const {
    SchemaChangeOptions options = {.is_cassandra = is_cassandra_, .has_short_ttls = false};
    // The server's clock: after the timestamps of all writes but those with conditions.
    options.hidden_until = kServersMicros + micros_;
    if (is_cassandra_ && !has_conditions_) {
      options.drop_timestamp = micros_ + kTimestampSpreadMicros;
    }
    return options;
  }

  void Change(const RandomSchemaChange& change) {
    for (const std::string& statement : change.statements) Say(statement);
    if (is_cassandra_ && !change.built_index.empty()) {
      Await("SELECT index_name FROM system.\"IndexInfo\" WHERE table_name = '" + tables_.keyspace +
            "' AND index_name = '" + change.built_index + "'");
    }
    if (is_cassandra_ && !change.built_view.empty()) {
      Await("SELECT view_name FROM system.built_views WHERE keyspace_name = '" + tables_.keyspace +
            "' AND view_name = '" + change.built_view + "'");
    }
    if (is_over()) return;
    const TableModel& changed = change.apply();
    Count("(changes of the schema)");
    if (change.makes_table && &changed != tables_.counters.get()) Acquaint(changed);
    if (!is_over()) ReadAllOf(changed);
    for (uint64_t left = random_.Below(4); left > 0 && !is_over(); --left) ReadSome(changed);
  }

  // Until there is a row: Cassandra answers before it has built an index or a view.
  void Await(const std::string& question) {
    constexpr auto kPause = std::chrono::milliseconds(20);
    const auto end = SystemClock::now() + std::chrono::seconds(kStatementSecondsMax);
    while (!is_over()) {
      const CqlAnswer answer = session_.Run({question, {}, false});
      if (IsLate(question)) return;
      if (!answer.error.empty() || SystemClock::now() > end) {
        return Fail(question + ";\n" + (answer.error.empty() ? "is never built" : answer.error));
      }
      if (!answer.rows.empty()) return;
      std::this_thread::sleep_for(kPause);
    }
  }

  TableModel& AnyModel() { return *tables_.models[random_.Below(tables_.models.size())]; }

  void Acquaint(const TableModel& model) {
    if (is_cassandra_) return;
    for (const CqlStatement& deletion : DeletionsOfNothing(model.schema())) {
      if (is_over()) return;
      const CqlAnswer answer = session_.Run(deletion);
      if (!IsLate(deletion.text) && !answer.error.empty()) Fail(answer.error);
    }
  }

  void Truncate() {
    TableModel& model = random_.OneIn(3) ? *tables_.counters : AnyModel();
    Say("TRUNCATE " + model.schema().table);
    model.Truncate();
    if (&model != tables_.counters.get()) Acquaint(model);
    if (!is_over()) ReadAllOf(model);
  }

  void Step() {
    micros_ += 1000;
    tables_.list_counts = {};
    if (random_.OneIn(30)) {
      return Change(MakeRandomSchemaChange(random_, tables_, ChangeOptions()));
    }
    if (random_.OneIn(200)) return Truncate();
    const uint64_t kind = random_.Below(12);
    if (kind == 0 && random_.OneIn(10)) return TakeMoment();
    if (kind == 0) return random_.OneIn(3) ? CountUp() : Batch();
    if (kind < 3 && has_conditions_) return WriteIf();
    if (kind < 7) return Write();
    ReadSome(tables_.readable(random_.Below(tables_.readables())));
  }

  void ReadSome(const TableModel& model) {
    Read(MakeRandomRead(random_, model, OptionsOf(model)), model.schema());
  }
  void ReadAllOf(const TableModel& model) {
    Read(ReadEverything(random_, model, OptionsOf(model)), model.schema());
  }

  WriteTimes Times() {
    WriteTimes times;
    times.now_micros = micros_;
    times.start_micros = kStartMicros;
    times.has_short_ttls = false;
    // Cassandra's lists know when they were written, not with which timestamp.
    if (is_cassandra_) times.list_micros = micros_;
    times.json_is_of_statics = answers_as_cassandra_;
    times.of_message = RandomTimestamp(random_, times);
    return times;
  }

  // Asks within a second, and says which.
  template <typename Ask>
  void Within(const std::string& shown, int64_t& now_seconds, Ask ask) {
    AwaitRoomInSecond();
    now_seconds = NowSeconds();
    ask();
    is_cut_ = IsLate(shown) || NowSeconds() != now_seconds;
  }

  void Write() {
    const WriteTimes times = Times();
    TableModel& model = AnyModel();
    const RandomWrite write = MakeRandomWrite(random_, model, times);
    history_ += write.shown + ";\n";
    int64_t now_seconds = 0;
    CqlAnswer answer;
    Within(write.shown, now_seconds, [&] {
      answer = session_.Run(
          write.sent,
          {.page_size = std::nullopt, .paging_state = {}, .default_timestamp = times.of_message});
    });
    if (is_cut_) return;
    if (!answer.error.empty()) return Refused({write.shown, false, model.schema(), answer.error});
    write.apply(*times.of_message, now_seconds);
  }

  void TakeMoment() {
    const auto run = [&](const CqlStatement& statement, TimeWindow& window) {
      window.from_micros = NowMicros();
      CqlAnswer answer = session_.Run(statement);
      window.to_micros = NowMicros();
      return answer;
    };
    const std::string wrong = moments_.Step(random_, run, history_);
    if (IsLate("a statement on the table of moments")) return;
    if (!wrong.empty()) return Fail(wrong);
    Count("(the same)");
  }

  void Batch() {
    const RandomBatch batch = MakeRandomBatch(
        random_, [this]() -> TableModel& { return AnyModel(); }, Times());
    history_ += batch.shown + ";\n";
    int64_t now_seconds = 0;
    CqlAnswer answer;
    Within(batch.shown, now_seconds, [&] { answer = batch.send(session_); });
    if (is_cut_) return;
    if (!answer.error.empty()) {
      // One of its statements is refused, and that may be of either table.
      const bool is_of_first =
          !NameOfRefusal({batch.shown, false, tables_.models[0]->schema(), answer.error}).empty();
      return Refused(
          {batch.shown, false, tables_.models[is_of_first ? 0 : 1]->schema(), answer.error});
    }
    batch.apply(micros_, now_seconds);
  }

  // Counters have the server's time.
  ReadOptions OptionsOf(const TableModel& model) const {
    return {.with_write_times = !has_conditions_ && &model != tables_.counters.get(),
            .has_own_functions = false,
            .has_scylla_rules = false};
  }

  // Cassandra goes on from what a counter was before its row was deleted: none is.
  void CountUp() {
    const RandomCounterWrite write =
        MakeRandomCounterWrite(random_, *tables_.counters, /*may_delete=*/!is_cassandra_);
    history_ += write.shown + ";\n";
    int64_t now_seconds = 0;
    CqlAnswer answer;
    Within(write.shown, now_seconds, [&] { answer = write.send(session_); });
    if (is_cut_) return;
    if (!answer.error.empty()) {
      return Refused({write.shown, false, tables_.counters->schema(), answer.error});
    }
    write.apply(micros_, now_seconds);
  }

  void WriteIf() {
    TableModel& model = AnyModel();
    const ConditionOptions options = {
        .has_short_ttls = false,
        .rules = {.empty_is_null = answers_as_cassandra_, .elements_as_keys = is_cassandra_}};
    const RandomConditionalWrite write = random_.OneIn(3)
                                             ? MakeRandomConditionalBatch(random_, model, options)
                                             : MakeRandomConditionalWrite(random_, model, options);
    history_ += write.shown + ";\n";
    ConditionalInstant now;
    CqlAnswer answer;
    Within(write.shown, now.seconds, [&] { answer = write.send(session_); });
    if (is_cut_) return;
    if (!answer.error.empty()) return Refused({write.shown, false, model.schema(), answer.error});
    now.micros = kServersMicros + micros_;
    // What is prepended goes by the mirror of the server's real time.
    now.list_micros = is_cassandra_ ? micros_ : NowMicros();
    now.ranges_first = is_cassandra_;
    const ConditionalAnswer expected = write.apply(now);
    if (answer.rows == expected.rows) return Count("(the same)");
    const auto is_found = [&](const std::vector<ResultRow>& rows) { return answer.rows == rows; };
    if (std::ranges::any_of(expected.of_cassandra, is_found)) {
      return Count("answers of conditions");
    }
    Fail(write.shown + ";\nthe model's answer\n" + Shown(expected.rows) + "the server's\n" +
         Shown(answer.rows));
  }

  // All pages; what refused them.
  std::string ReadAll(const RandomRead& read, CqlParameters parameters,
                      std::vector<ResultRow>& found) {
    found.clear();
    for (size_t page = 0; page < kPagesMax; ++page) {
      const CqlAnswer answer = session_.Run(read.sent, parameters);
      if (!answer.error.empty()) return answer.error;
      found.insert(found.end(), answer.rows.begin(), answer.rows.end());
      parameters.paging_state = answer.paging_state;
      if (parameters.paging_state.empty()) return "";
    }
    return "the pages do not end";
  }

  void Read(const RandomRead& read, const ModelSchema& schema) {
    CqlParameters parameters;
    if (read.may_be_paged && random_.OneIn(2)) {
      constexpr int32_t kSizes[] = {1, 2, 3, 7, 5000};
      parameters.page_size = kSizes[random_.Below(std::size(kSizes))];
    }
    std::vector<ResultRow> found;
    std::string error;
    int64_t now_seconds = 0;
    TimeWindow window;
    Within(read.shown, now_seconds, [&] {
      window.from_micros = NowMicros();
      error = ReadAll(read, parameters, found);
      window.to_micros = NowMicros();
    });
    if (is_cut_) return;
    read.make_comparable(found, window);
    const std::vector<ResultRow> expected = read.expected(now_seconds, {});
    if (!error.empty()) {
      if (error.starts_with("Cannot create JSON string") && IsRefused(expected)) {
        return Count("(the same)");
      }
      return Refused({read.shown, parameters.page_size.has_value(), schema, error});
    }
    if (found == expected) return Count("(the same)");
    const std::vector<std::string> names = NamesOfOtherAnswer(
        read.shown, parameters.page_size.has_value(), schema, found,
        [&](const AnswerRules& rules) { return read.expected(now_seconds, rules); });
    for (const std::string& name : names) Count(name);
    if (!names.empty()) return;
    Fail(read.shown + ";\n-- sent: " + read.sent.text +
         (parameters.page_size ? "\n-- in pages of " + std::to_string(*parameters.page_size) : "") +
         "\nthe model's answer\n" + Shown(expected) + "the server's\n" + Shown(found));
  }

  // What is refused has not happened to the model either.
  void Refused(const Refusal& refusal) {
    history_ += "-- refused: " + std::string(refusal.error) + "\n";
    const std::string name = NameOfRefusal(refusal);
    if (name.empty()) return Fail(std::string(refusal.statement) + ";");
    Count(name);
  }

  void Count(const std::string& name) { ++differences_[name]; }

  void Fail(const std::string& what) {
    failed_ = true;
    std::printf("of the run of seed %llu:\n%s%s\n\n", static_cast<unsigned long long>(seed_),
                history_.c_str(), what.c_str());
  }

  CqlSession& session_;
  ModelTables tables_;
  const bool is_cassandra_;
  const bool answers_as_cassandra_;
  const uint64_t seed_;
  Random random_;
  std::map<std::string, uint64_t>& differences_;
  int64_t micros_ = kStartMicros;
  MomentTable moments_{tables_.keyspace + ".moments"};
  std::string history_;
  bool has_conditions_ = false;
  bool failed_ = false;
  bool is_cut_ = false;
};

// Absent: it does not answer any more.
std::unique_ptr<CqlSession> Connect(uint16_t port, const std::string& address) {
  for (int tries = 0; tries < kConnectTries; ++tries) {
    auto session = std::make_unique<CqlSession>(port, address, kStatementSecondsMax);
    if (!session->is_late()) return session;
  }
  std::printf("the server does not answer any more\n");
  return nullptr;
}

int Main(int argc, char** argv) {
  const std::string_view server = argc == 3 ? argv[2] : "";
  const size_t colon = server.rfind(':');
  uint16_t port = 0;
  if (argc != 3 || std::string_view(argv[1]) != "--against" || colon == std::string_view::npos ||
      std::from_chars(server.data() + colon + 1, server.data() + server.size(), port).ec !=
          std::errc()) {
    std::fprintf(stderr, "differential_test --against ADDRESS:PORT\n");
    return 2;
  }
  const std::string address(server.substr(0, colon));
  auto session = Connect(port, address);
  if (session == nullptr) return 2;
  const auto has_table = [&](const std::string& keyspace, const std::string& table) {
    const std::string question =
        "SELECT table_name FROM system_schema.tables WHERE keyspace_name = '" + keyspace +
        "' AND table_name = '" + table + "'";
    return !session->Run({question, {}, false}).rows.empty();
  };
  const bool answers_as_cassandra = !has_table("system_schema", "scylla_tables");
  const bool is_cassandra = answers_as_cassandra && !has_table("liststore", "clock");
  const std::string keyspaces = "liststore_against_" + std::to_string(getpid());
  const uint64_t seed = TestSeed();
  const uint64_t steps = TestSteps(5000);
  std::map<std::string, uint64_t> differences;
  uint64_t runs = 0, failed = 0, cut = 0, late = 0;
  std::string keyspace = keyspaces;
  while (session != nullptr && runs * kStatementsPerRun < steps) {
    Run run(*session, keyspace, is_cassandra, answers_as_cassandra, seed + runs, differences);
    if (!run.Execute(std::min(kStatementsPerRun, steps - runs * kStatementsPerRun))) ++failed;
    ++runs;
    if (run.is_cut()) ++cut;
    std::fflush(stdout);
    if (!session->is_late()) continue;
    // What it is still doing, it does to a keyspace that is not used again.
    keyspace = keyspaces + "_" + std::to_string(++late);
    session = Connect(port, address);
  }
  // Those of late statements as well, if it comes to them.
  for (uint64_t i = 0; session != nullptr && i <= late && !session->is_late(); ++i) {
    session->Run({"DROP KEYSPACE IF EXISTS " + keyspaces + (i == 0 ? "" : "_" + std::to_string(i)),
                  {},
                  false});
  }
  for (const auto& [name, count] : differences) {
    std::printf("%8llu  %s\n", static_cast<unsigned long long>(count), name.c_str());
  }
  std::printf(
      "%llu runs, %llu with a difference that has no name, %llu cut short as a statement took "
      "longer than is left of a second, %llu of them longer than %d s\n",
      static_cast<unsigned long long>(runs), static_cast<unsigned long long>(failed),
      static_cast<unsigned long long>(cut), static_cast<unsigned long long>(late),
      kStatementSecondsMax);
  return failed == 0 && session != nullptr ? 0 : 1;
}

}  // namespace
}  // namespace liststore::testing

int main(int argc, char** argv) { return liststore::testing::Main(argc, argv); }
