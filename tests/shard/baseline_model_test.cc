// Baseline against what was written down at the mark: random tables, rows and changes of the
// schema, marks and resets in between, with a clock that goes on or back. After every reset each
// table is compared cell by cell: values, timestamps, TTLs, deletions.
//
// LISTSTORE_STEPS steps in runs of 500, run i under seed LISTSTORE_SEED + i. A failure names its
// run; to replay only that: LISTSTORE_SEED=<seed of the run> LISTSTORE_STEPS=500.
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/config.h"
#include "engine/shard/baseline.h"
#include "gtest/gtest.h"
#include "tests/shard/command_workload.h"
#include "tests/shard/item_commands.h"
#include "tests/shard/named_tables.h"
#include "tests/support/seed.h"
#include "tests/support/stored_copy.h"

namespace liststore::testing {
namespace baseline_model_test {

constexpr uint64_t kStepsPerRun = 500;
constexpr size_t kTables = 5;
#if defined(ABSL_HAVE_THREAD_SANITIZER)
constexpr uint64_t kStepsShare = 10;  // one thread: there is nothing to race with
#else
constexpr uint64_t kStepsShare = 1;
#endif

struct Totals {
  uint64_t writes = 0;
  uint64_t changes_of_schema = 0;
  uint64_t marks = 0;
  uint64_t resets = 0;
  uint64_t tables_compared = 0;
  uint64_t bytes_compared = 0;
};

// What is expected of a reset.
struct Expected {
  std::shared_ptr<const Schema> schema;  // nullptr: nothing is marked
  uint64_t now_nanos = 0;
  std::map<std::string, std::string> contents;  // of tables by name, at that time
  // The same in another engine, under the ids there, for what time takes of it.
  std::unique_ptr<shard::Engine> twin;
  std::map<std::string, TableId> twin_ids;
};

class BaselineRun {
 public:
  BaselineRun(uint64_t seed, uint32_t shards, Totals& totals)
      : rng_(seed), goes_back_(rng_.OneIn(2)), engine_(OptionsFor(shards)), totals_(totals) {
    for (size_t i = 0; i < kTables; ++i) {
      workloads_.emplace_back(std::make_unique<CommandWorkload>(rng_.Next(), uint16_t{1}));
      altered_[NameOf(i)] = false;
    }
    start_nanos_ = now_nanos_ = kNoonNanos;
  }

  void Run(uint64_t steps) {
    for (step_ = 0; step_ < steps && !::testing::Test::HasFailure(); ++step_) {
      Step();
      if (step_ % 100 == 0) engine_.Verify();
    }
    if (::testing::Test::HasFailure()) return;
    baseline_.Forget();
    expected_ = {};
    Reset();
    engine_.Verify();
    ReclaimAll(engine_, now_nanos_);
    EXPECT_EQ(engine_.held_bytes(), 0u) << "nothing is left of tables, copies and baselines";
  }

 private:
  static shard::EngineOptions OptionsFor(uint32_t shards) {
    shard::EngineOptions options;
    options.shards = shards;
    options.lanes_per_shard_log2 = 2;
    options.memory_limit_bytes = uint64_t{1} << 40;
    options.copied_rows_per_hold = 16;
    return options;
  }
  static std::string NameOf(size_t number) { return "t" + std::to_string(number); }

  void Step() {
    const uint64_t ticket = rng_.Below(1'000);
    if (ticket < 850) return Write();
    if (ticket < 890) return Tick();
    if (ticket < 920) {
      engine_.Reclaim(now_nanos_, rng_.OneIn(2) ? 50 : 50'000);
      return;
    }
    if (ticket < 965) return ChangeSchema();
    if (ticket < 980) return Mark();
    if (ticket < 997) return Reset();
    baseline_.Forget();
    expected_ = {};
  }

  void Write() {
    const size_t number = rng_.Below(kTables);
    const auto table = TableNamed(engine_, NameOf(number));
    if (table == nullptr || altered_[NameOf(number)]) return;
    CommandWorkload& workload = *workloads_[number];
    workload.base().SetTime(static_cast<int64_t>(now_nanos_ / kNanosPerSecond));
    const TableOp op = workload.base().NextOp(step_);
    if (!IsCommand(op)) return;
    const auto owned = workload.Make(op, step_);
    owned->command.table = table->storage.id;
    ASSERT_EQ(engine_.Execute(owned->command, now_nanos_).status, OpStatus::kOk);
    ++totals_.writes;
  }

  void Tick() {
    constexpr uint64_t kSteps[] = {1, 5, 100, 3'600, 86'400, 30 * 86'400};
    now_nanos_ += kSteps[rng_.Below(std::size(kSteps))] * kNanosPerSecond + rng_.Below(1'000'000);
  }

  void ChangeSchema() {
    const size_t number = rng_.Below(kTables);
    const std::string name = NameOf(number);
    ++totals_.changes_of_schema;
    if (TableNamed(engine_, name) == nullptr) {
      altered_[name] = false;
      ASSERT_EQ(CreateNamed(engine_, name, workloads_[number]->schema()), OpStatus::kOk);
      return;
    }
    switch (rng_.Below(6)) {
      case 0:
        ASSERT_EQ(DropNamed(engine_, name), OpStatus::kOk);
        return;
      case 1:
        ASSERT_EQ(TruncateNamed(engine_, name), OpStatus::kOk);
        return;
      case 2:
        ASSERT_EQ(RetimeNamed(engine_, name, rng_.Between(0, 10)), OpStatus::kOk);
        return;
      case 3:
        if (altered_[name]) return;
        altered_[name] = true;
        ASSERT_EQ(AddColumnTo(engine_, name, now_nanos_), OpStatus::kOk);
        return;
      default:
        return;
    }
  }

  void ForEachTable(const Schema& schema, auto visit) {
    const KeyspaceDefinition* keyspace = schema.FindKeyspace(kAppKeyspace);
    if (keyspace == nullptr) return;
    for (const auto& [name, table] : keyspace->tables) {
      if (!table->is_index_view()) visit(name, *table);
    }
  }

  void Mark() {
    ASSERT_EQ(baseline_.Mark([this] { return now_nanos_; }), OpStatus::kOk);
    ++totals_.marks;
    expected_ = {};
    expected_.schema = engine_.catalog().snapshot();
    expected_.now_nanos = *baseline_.marked_nanos();
    expected_.twin = std::make_unique<shard::Engine>(OptionsFor(engine_.router().shards()));
    marked_altered_ = altered_;
    ForEachTable(*expected_.schema, [&](const std::string& name, const TableDefinition& table) {
      expected_.contents[name] = StoredIn(engine_, table.storage.id, now_nanos_);
      expected_.twin_ids[name] = CopyToTwin(table);
    });
  }

  TableId CopyToTwin(const TableDefinition& table) {
    const TableId id = expected_.twin->CreateTable(table.storage);
    StoredCopy copy(table.storage.packs_item_keys());
    shard::CopyPosition position;
    while (!position.done) {
      LS_CHECK(engine_.CopyOut(table.storage.id, now_nanos_, position, copy) == OpStatus::kOk,
               "the table is there");
    }
    for (const StoredCopy::Part& part : copy.parts()) {
      LS_CHECK(expected_.twin->Restore(id, part.head, part.rows, now_nanos_) == OpStatus::kOk,
               "memory is ample");
    }
    return id;
  }

  void Reset() {
    const auto before = engine_.catalog().snapshot();
    const uint64_t era = engine_.era();
    const uint64_t marked = expected_.schema != nullptr ? expected_.now_nanos : start_nanos_;
    bool moved = false;
    std::vector<SchemaDifference> differences;
    const auto set_clock = [&] {
      moved = goes_back_ && now_nanos_ != marked;
      if (goes_back_) now_nanos_ = marked;
      return moved;
    };
    const uint64_t afterwards = goes_back_ ? marked : now_nanos_;
    ASSERT_EQ(baseline_.Reset(afterwards, set_clock, differences), OpStatus::kOk);
    ++totals_.resets;
    EXPECT_EQ(engine_.era(), era + (moved ? 1 : 0));
    altered_ = expected_.schema != nullptr ? marked_altered_ : decltype(altered_)();
    CompareSchema(*before, differences);
    if (!::testing::Test::HasFailure()) CompareContents();
  }

  void CompareSchema(const Schema& before, const std::vector<SchemaDifference>& differences) {
    const auto after = engine_.catalog().snapshot();
    EXPECT_EQ(differences, DifferencesBetween(before, *after));
    EXPECT_EQ(differences.empty(), before.version == after->version)
        << "drivers read the schema again exactly where there is something new";
    if (expected_.schema == nullptr) {
      EXPECT_EQ(after->FindKeyspace(kAppKeyspace), nullptr);
    } else {
      EXPECT_EQ(DifferencesBetween(*expected_.schema, *after), std::vector<SchemaDifference>());
    }
  }

  void CompareContents() {
    const auto schema = engine_.catalog().snapshot();
    ForEachTable(*schema, [&](const std::string& name, const TableDefinition& table) {
      ++totals_.tables_compared;
      const std::string stored = StoredIn(engine_, table.storage.id, now_nanos_);
      totals_.bytes_compared += stored.size();
      if (goes_back_) {
        EXPECT_EQ(InOrder(stored), InOrder(expected_.contents[name])) << name;
      }
      EXPECT_EQ(InOrder(stored),
                InOrder(StoredIn(*expected_.twin, expected_.twin_ids[name], now_nanos_)))
          << name;
    });
  }

  // Partitions, in any order; those with nothing left in them are left out.
  static std::vector<std::string> InOrder(const std::string& text) {
    std::vector<std::string> partitions;
    for (size_t at = text.find("partition "); at != std::string::npos;) {
      const size_t next = text.find("partition ", at + 1);
      std::string partition = text.substr(at, next == std::string::npos ? next : next - at);
      if (partition.find('\n') != partition.size() - 1 ||
          partition.find('@') != std::string::npos) {
        partitions.push_back(std::move(partition));
      }
      at = next;
    }
    std::sort(partitions.begin(), partitions.end());
    return partitions;
  }

  Random rng_;
  const bool goes_back_;
  std::vector<std::unique_ptr<CommandWorkload>> workloads_;
  shard::Engine engine_;
  shard::Baseline baseline_{engine_};
  Totals& totals_;
  Expected expected_;
  std::map<std::string, bool> altered_;  // its workload does not know it any more
  std::map<std::string, bool> marked_altered_;
  uint64_t start_nanos_ = 0;
  uint64_t now_nanos_ = 0;
  uint64_t step_ = 0;
};

TEST(BaselineModelTest, GoesBackToWhatWasMarked) {
  const uint64_t seed = TestSeed();
  const uint64_t steps = TestSteps(20'000) / kStepsShare;
  Totals totals;
  for (uint64_t run = 0; run * kStepsPerRun < steps; ++run) {
    SCOPED_TRACE("run with seed " + std::to_string(seed + run));
    BaselineRun(seed + run, run % 2 == 0 ? 1 : 3, totals).Run(kStepsPerRun);
    if (::testing::Test::HasFailure()) break;
  }
  std::printf("%" PRIu64 " writes, %" PRIu64 " changes of the schema, %" PRIu64 " marks, %" PRIu64
              " resets; %" PRIu64 " tables of %" PRIu64 " bytes of text compared\n",
              totals.writes, totals.changes_of_schema, totals.marks, totals.resets,
              totals.tables_compared, totals.bytes_compared);
}

}  // namespace baseline_model_test
}  // namespace liststore::testing
