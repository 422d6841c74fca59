// Random tables and statements over the wire, compared with a plain model after every SELECT.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "liststore/cql_server.h"
#include "tests/conformance/coverage.h"
#include "tests/conformance/cql_session.h"
#include "tests/conformance/paged_read.h"
#include "tests/conformance/random_batches.h"
#include "tests/conformance/random_conditions.h"
#include "tests/conformance/random_counters.h"
#include "tests/conformance/random_moments.h"
#include "tests/conformance/random_refusals.h"
#include "tests/conformance/random_schema_changes.h"
#include "tests/conformance/random_statements.h"
#include "tests/conformance/random_times.h"
#include "tests/conformance/random_tuples.h"
#include "tests/conformance/random_types.h"
#include "tests/conformance/read_model.h"
#include "tests/conformance/table_model.h"
#include "tests/conformance/view_model.h"
#include "tests/support/seed.h"

namespace liststore::testing {
namespace differential_test {

constexpr uint64_t kStartNanos = 1'700'000'000'000'000'000;
constexpr uint64_t kStatementsPerRun = 250;
constexpr size_t kPagesMax = 10'000;
// A test of so many has made every kind of statement.
constexpr uint64_t kStatementsOfAllKinds = 10'000;

// Whose timestamps the writes of a run have.
enum class Timestamps : uint8_t {
  kServer,   // the server's alone
  kClients,  // every write has one, of the statement or the message
  kMixed
};

std::string Hex(const std::optional<std::string>& value) {
  if (!value) return "null";
  std::string text = "0x";
  for (const char c : *value) {
    char digits[3];
    std::snprintf(digits, sizeof(digits), "%02x", static_cast<unsigned char>(c));
    text += digits;
  }
  return text;
}

std::string ToText(const std::vector<ResultRow>& rows) {
  std::string text;
  for (const ResultRow& row : rows) {
    text += "   ";
    for (const auto& value : row) text += " " + Hex(value);
    text += "\n";
  }
  return text + "    (" + std::to_string(rows.size()) + " rows)\n";
}

// Two tables of a server, from CREATE to DROP.
class TableRun {
 public:
  TableRun(uint64_t seed, uint64_t steps, Coverage& coverage)
      : seed_(seed), steps_(steps), coverage_(coverage), random_(seed) {
    timestamps_ = static_cast<Timestamps>(random_.Below(3));
    CqlServerOptions options;
    options.shards = static_cast<uint32_t>(1 + random_.Below(3));
    options.shard_aware = false;
    options.memory_limit_bytes = uint64_t{256} << 20;
    options.manual_clock = &clock_;
    options.client_timestamps = CqlServerOptions::ClientTimestamps::kHonour;
    auto server = CqlServer::Start(options);
    EXPECT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    session_ = std::make_unique<CqlSession>(server_->cql_port());
  }

  bool Execute() {
    Say("CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': "
        "1}");
    tables_.types = RandomUserTypes(random_, tables_.keyspace);
    for (const std::string& create : tables_.types.CreateStatements()) Say(create);
    for (const char* name : {"k.a", "k.b"}) {
      tables_.models.push_back(std::make_unique<TableModel>(
          RandomSchema(random_, name, tables_.types), tables_.list_counts));
      for (const std::string& create : tables_.models.back()->schema().CreateStatements()) {
        Say(create);
      }
    }
    tables_.counters = std::make_unique<TableModel>(
        RandomCounterSchema(random_, "k.counters", tables_.types), tables_.list_counts);
    for (const std::string& create : tables_.counters->schema().CreateStatements()) Say(create);
    Say(moments_.CreateStatement());
    for (const auto& model : tables_.models) Acquaint(*model);
    for (uint64_t i = random_.Below(4); i > 0; --i) {
      Change(MakeRandomView(random_, tables_, change_options()));
    }
    while (said_ < steps_ && !failed_) Step();
    for (size_t i = 0; i < tables_.readables() && !failed_; ++i) {
      Read(ReadEverything(random_, tables_.readable(i), {}));
      ReadDrops(tables_.readable(i).schema());
    }
    return !failed_;
  }

 private:
  void Say(const std::string& statement) {
    if (failed_) return;
    history_ += statement + ";\n";
    ++said_;
    Check(session_->Run({statement, {}, false}));
  }

  SchemaChangeOptions change_options() const {
    return {.has_no_grace = timestamps_ == Timestamps::kServer, .hidden_until = now_micros()};
  }

  // Read behind it is what it changed.
  void Change(const RandomSchemaChange& change) {
    if (!change.kind.empty()) coverage_.Count(change.kind);
    for (const std::string& statement : change.statements) Say(statement);
    const TableModel& changed = change.apply();
    if (change.makes_table && &changed != tables_.counters.get()) Acquaint(changed);
    if (!failed_) Read(ReadEverything(random_, changed, {}));
    for (uint64_t left = random_.Below(4); left > 0 && !failed_; --left) {
      Read(MakeRandomRead(random_, changed, {}));
    }
  }

  // What is refused leaves all as it was.
  void RefuseChanges() {
    const std::string before = Described();
    for (uint64_t left = 1 + random_.Below(5); left > 0 && !failed_; --left) Refuse();
    if (failed_) return;
    const std::string after = Described();
    if (after != before) return Differ(before, after);
    if (random_.OneIn(3)) Read(ReadEverything(random_, AnyReadable(), {}));
  }
  void Refuse() {
    ++said_;
    const RandomRefusal refusal = MakeRandomRefusal(random_, tables_);
    coverage_.Count(refusal.kind);
    history_ += refusal.statement + ";" + When();
    const CqlAnswer answer = session_->Run({refusal.statement, {}, random_.OneIn(2)});
    if (answer.code == refusal.code && answer.error == refusal.error) return;
    Differ(std::to_string(refusal.code) + ": " + refusal.error,
           std::to_string(answer.code) + ": " + answer.error);
  }
  // The schema as it is told, and its version.
  std::string Described() {
    std::string text;
    for (const char* statement :
         {"SELECT schema_version FROM system.local", "DESCRIBE KEYSPACE k"}) {
      const CqlAnswer answer = session_->Run({statement, {}, false});
      Check(answer);
      for (const ResultRow& row : answer.rows) text += row.back().value_or("null") + "\n";
    }
    return text;
  }

  void Step() {
    Advance();
    tables_.list_counts = {};
    if (random_.OneIn(25)) {
      return Change(MakeRandomSchemaChange(random_, tables_, change_options()));
    }
    if (random_.OneIn(20)) return RefuseChanges();
    if (random_.OneIn(40)) return ReadAcrossChange();
    if (random_.OneIn(300)) return Truncate();
    switch (random_.Below(12)) {
      case 0:
        return Batch();
      case 1:
        if (random_.OneIn(10)) return TakeMoment();
        if (random_.OneIn(3)) return WriteMoment();
        return random_.OneIn(2) ? WriteIf() : Count();
      case 2:
      case 3:
      case 4:
      case 5:
      case 6:
        return Write();
      default:
        if (random_.OneIn(60)) return ReadRefusedTime();
        return Read(MakeRandomRead(random_, AnyReadable(), {}));
    }
  }
  const TableModel& AnyReadable() {
    if (random_.OneIn(8)) return *tables_.counters;
    return tables_.readable(random_.Below(tables_.readables() - 1));
  }

  // The clock moves before every statement, so that the server's timestamps are the clock's.
  void Advance() {
    clock_.AdvanceNanos(1'000'000);
    if (!random_.OneIn(8)) return;
    const uint64_t seconds = random_.OneIn(8) ? 1000 : 1 + random_.Below(6);
    clock_.AdvanceSeconds(seconds);
    history_ += "-- " + std::to_string(seconds) + " s pass\n";
  }
  int64_t now_seconds() const { return static_cast<int64_t>(clock_.NowNanos() / 1'000'000'000); }
  int64_t now_micros() const { return static_cast<int64_t>(clock_.NowNanos() / 1000); }
  TableModel& AnyModel() { return *tables_.models[random_.Below(tables_.models.size())]; }

  // Where all statements bring a timestamp, those with conditions still have the server's.
  void Acquaint(const TableModel& model) {
    if (timestamps_ == Timestamps::kServer) return;
    for (const CqlStatement& deletion : DeletionsOfNothing(model.schema())) {
      history_ += deletion.text + ";  -- for a key\n";
      Check(session_->Run(deletion));
    }
  }
  void Truncate() {
    TableModel& model = random_.OneIn(4) ? *tables_.counters : AnyModel();
    Say("TRUNCATE " + model.schema().table);
    model.Truncate();
    if (&model != tables_.counters.get()) Acquaint(model);
  }

  // The timestamp of a message; nullopt: the server's counts.
  std::optional<int64_t> MessageTimestamp(const WriteTimes& times) {
    if (timestamps_ == Timestamps::kServer) return std::nullopt;
    if (timestamps_ == Timestamps::kMixed && random_.OneIn(2)) return std::nullopt;
    return RandomTimestamp(random_, times);
  }
  WriteTimes Times() {
    WriteTimes times;
    times.has_scylla_json = true;
    times.may_say_timestamp = timestamps_ != Timestamps::kServer;
    times.now_micros = now_micros();
    times.start_micros = static_cast<int64_t>(kStartNanos / 1000);
    times.of_message = MessageTimestamp(times);
    return times;
  }

  void Write() {
    ++said_;
    const WriteTimes times = Times();
    const RandomWrite write = MakeRandomWrite(random_, AnyModel(), times);
    for (const std::string_view kind : write.kinds) coverage_.Count(kind);
    history_ += write.shown + ";" + When();
    Check(session_->Run(
        write.sent,
        {.page_size = std::nullopt, .paging_state = {}, .default_timestamp = times.of_message}));
    write.apply(times.of_message.value_or(now_micros()), now_seconds());
  }

  void WriteIf() {
    ++said_;
    const RandomConditionalWrite write = random_.OneIn(3)
                                             ? MakeRandomConditionalBatch(random_, AnyModel(), {})
                                             : MakeRandomConditionalWrite(random_, AnyModel(), {});
    history_ += write.shown + ";" + When();
    const CqlAnswer answer = write.send(*session_);
    Check(answer);
    const std::vector<ResultRow> expected =
        write.apply({now_micros(), std::nullopt, now_seconds()}).rows;
    if (failed_ || answer.rows == expected) return;
    Differ(ToText(expected), ToText(answer.rows));
  }

  void Count() {
    ++said_;
    const RandomCounterWrite write =
        MakeRandomCounterWrite(random_, *tables_.counters, /*may_delete=*/true);
    history_ += write.shown + ";" + When();
    Check(write.send(*session_));
    write.apply(now_micros(), now_seconds());
  }

  void ReadRefusedTime() {
    ++said_;
    const RefusedRead read = RandomRefusedTime(random_, AnyReadable().schema());
    history_ += read.sent.text + ";" + When();
    const CqlAnswer answer = session_->Run(read.sent);
    if (answer.error.find(read.words) != std::string::npos) return;
    Differ(read.words, answer.error);
  }

  void TakeMoment() {
    const auto run = [&](const CqlStatement& statement, TimeWindow& window) {
      ++said_;
      window = Window();
      return session_->Run(statement);
    };
    const std::string wrong = moments_.Step(random_, run, history_);
    if (wrong.empty()) return;
    failed_ = true;
    ADD_FAILURE() << wrong << Replay();
  }

  void WriteMoment() {
    const WriteTimes times = Times();
    std::optional<MomentWrite> write;
    for (int tries = 0; !write && tries < 4; ++tries) {
      write = MakeMomentWrite(random_, AnyModel(), times);
    }
    if (!write) return;
    said_ += 2;
    coverage_.Count(write->kind);
    history_ += write->shown + ";" + When();
    const TimeWindow window = Window();
    Check(session_->Run(
        write->sent,
        {.page_size = std::nullopt, .paging_state = {}, .default_timestamp = times.of_message}));
    const CqlAnswer read = session_->Run(write->read);
    const std::string wrong =
        write->apply(read, window, times.of_message.value_or(now_micros()), now_seconds());
    if (!wrong.empty()) Differ("the values of a moment", wrong);
  }

  void Batch() {
    ++said_;
    const RandomBatch batch = MakeRandomBatch(
        random_, [this]() -> TableModel& { return AnyModel(); }, Times());
    history_ += batch.shown + ";" + When();
    Check(batch.send(*session_));
    batch.apply(now_micros(), now_seconds());
  }

  // Under a clock that stands each now() is a step behind the one before.
  TimeWindow Window() const { return {now_micros(), now_micros() + 999}; }
  std::string When() const { return "  -- at " + std::to_string(now_micros()) + " us\n"; }

  void Read(const RandomRead& read) {
    ++said_;
    for (const std::string_view kind : read.kinds) coverage_.Count(kind);
    CqlParameters parameters;
    if (read.may_be_paged && random_.OneIn(2)) {
      constexpr int32_t kSizes[] = {1, 2, 3, 7, 5000};
      parameters.page_size = kSizes[random_.Below(std::size(kSizes))];
    }
    std::vector<ResultRow> found;
    for (size_t page = 0; page < kPagesMax; ++page) {
      const CqlAnswer answer = session_->Run(read.sent, parameters);
      if (!answer.error.empty()) {
        const bool is_right = answer.error.starts_with("Cannot create JSON string") &&
                              IsRefused(read.expected(now_seconds(), {}));
        return is_right ? void() : Fail(read, parameters, answer.error);
      }
      if (parameters.page_size && answer.rows.size() > static_cast<size_t>(*parameters.page_size)) {
        return Fail(read, parameters, "a page has " + std::to_string(answer.rows.size()) + " rows");
      }
      found.insert(found.end(), answer.rows.begin(), answer.rows.end());
      parameters.paging_state = answer.paging_state;
      if (parameters.paging_state.empty()) break;
    }
    if (!parameters.paging_state.empty()) return Fail(read, parameters, "the pages do not end");
    const std::vector<ResultRow> expected = read.expected(now_seconds(), {});
    read.make_comparable(found, Window());
    if (found == expected) return;
    Fail(read, parameters, "expected\n" + ToText(expected) + "found\n" + ToText(found));
  }

  // The schema changes between two pages: what is behind the first is as the schema is then, and a
  // column that was said and is no more is an error.
  void ReadAcrossChange() {
    TableModel& model = AnyModel();
    const PagedRead read(random_, model, now_seconds());
    CqlParameters parameters;
    parameters.page_size = static_cast<int32_t>(1 + random_.Below(3));
    history_ += "-- the first of several pages of " + std::to_string(*parameters.page_size) +
                ":\n" + read.shown() + ";" + When();
    ++said_;
    const CqlAnswer first = session_->Run(read.sent(), parameters);
    Check(first);
    if (failed_) return;
    const std::vector<PagedRead::Row> before = read.Rows(now_seconds());
    const size_t found = first.rows.size();
    bool is_right = found <= before.size();
    for (size_t i = 0; is_right && i < found; ++i) is_right = first.rows[i] == before[i].second;
    if (!is_right) return Differ("the first page", ToText(first.rows));
    if (first.paging_state.empty() || found == 0) return;
    const auto change = MakeChangeBetweenPages(random_, tables_, model, change_options());
    if (!change) return;
    coverage_.Count(change->kind);
    for (const std::string& statement : change->statements) Say(statement);
    change->apply();
    parameters.paging_state = first.paging_state;
    ReadOtherPages(read, parameters, before[found - 1].first);
    if (!failed_) Read(ReadEverything(random_, model, {}));
  }
  void ReadOtherPages(const PagedRead& read, CqlParameters parameters, const LiveRow& last) {
    std::vector<ResultRow> found;
    const std::vector<std::string> missing = read.Missing();
    while (!parameters.paging_state.empty() && !failed_) {
      const CqlAnswer answer = session_->Run(read.sent(), parameters);
      if (!missing.empty()) {
        const bool is_right = std::ranges::any_of(missing, [&](const std::string& name) {
          return answer.error == "Unrecognized name " + name;
        });
        return is_right ? void() : Differ("Unrecognized name " + missing[0], answer.error);
      }
      Check(answer);
      found.insert(found.end(), answer.rows.begin(), answer.rows.end());
      parameters.paging_state = answer.paging_state;
    }
    const std::vector<ResultRow> expected = read.Behind(last, now_seconds());
    if (!failed_ && found != expected) Differ(ToText(expected), ToText(found));
  }

  void ReadDrops(const ModelSchema& schema) {
    constexpr size_t kBehindKeyspace = 2;  // "k."
    const CqlAnswer answer = session_->Run(
        {"SELECT column_name, type, toUnixTimestamp(dropped_time) FROM "
         "system_schema.dropped_columns WHERE keyspace_name = 'k' AND table_name = '" +
             schema.table.substr(kBehindKeyspace) + "'",
         {},
         false});
    Check(answer);
    std::vector<ResultRow> expected;
    for (const auto& [name, drop] : schema.drops) {
      expected.push_back({name, drop.type, BytesOfInt(drop.micros / 1000, 8)});
    }
    if (!failed_ && answer.rows != expected) Differ(ToText(expected), ToText(answer.rows));
  }

  void Fail(const RandomRead& read, const CqlParameters& parameters, const std::string& what) {
    failed_ = true;
    ADD_FAILURE() << what << Replay() << read.shown << ";" << When()
                  << "-- sent: " << read.sent.text << (read.sent.prepared ? " (prepared)" : "")
                  << (parameters.page_size ? " in pages of " + std::to_string(*parameters.page_size)
                                           : "");
  }
  void Differ(const std::string& expected, const std::string& found) {
    failed_ = true;
    ADD_FAILURE() << "expected\n" + expected + "\nfound\n" + found << Replay();
  }
  void Check(const CqlAnswer& answer) {
    if (answer.error.empty()) return;
    failed_ = true;
    ADD_FAILURE() << answer.error << Replay();
  }
  // All that the tables have seen: it can be run by hand.
  std::string Replay() const {
    return "\nof the run of seed " + std::to_string(seed_) + ":\n" + history_;
  }

  const uint64_t seed_;
  const uint64_t steps_;
  Coverage& coverage_;
  Random random_;
  Timestamps timestamps_ = Timestamps::kServer;
  ManualClock clock_{kStartNanos};
  std::unique_ptr<CqlServer> server_;
  std::unique_ptr<CqlSession> session_;
  ModelTables tables_{.keyspace = "k"};
  MomentTable moments_{"k.moments"};
  uint64_t said_ = 0;  // statements
  std::string history_;
  bool failed_ = false;
};

// In runs of 250 statements; run i has seed + i, so that one of them can be had alone.
TEST(Differential, StatementsAnswerAsTheModel) {
  const uint64_t seed = TestSeed();
  const uint64_t steps = TestSteps(10'000);
  Coverage coverage;
  for (uint64_t done = 0; done < steps; done += kStatementsPerRun) {
    const uint64_t run_seed = seed + done / kStatementsPerRun;
    TableRun run(run_seed, std::min(kStatementsPerRun, steps - done), coverage);
    if (!run.Execute()) return;
  }
  if (steps < kStatementsOfAllKinds) return;
  std::vector<std::string_view> kinds = {
      kFieldOfKeysAdded,    kMomentWritten,       kStaticMomentWritten,
      kWholeNumberInJson,   kShortTupleInJson,    kJsonOfElement,
      kPagesAroundAdd,      kPagesAroundDrop,     kPagesAroundRename,
      kPagesAroundIndex,    kPagesAroundType,     kOrderBesideIn,
      kOrderBesideFilter,   kOrderBesideInOfOne,  kLimitOfIn,
      kTupleEqual,          kTupleEqualBound,     kTupleIn,
      kTupleInBound,        kTupleOfOne,          kTupleSlices,
      kSeveralOfPartition,  kSeveralOfClustering, kSeveralOfIndexed,
      kSliceBesideEquality, kSlicesOfOneColumn};
  kinds.insert(kinds.end(), RefusalKinds().begin(), RefusalKinds().end());
  EXPECT_EQ(coverage.Missing(kinds), "") << "never made; made were\n" << coverage.ToString();
}

}  // namespace differential_test
}  // namespace liststore::testing
