// Table against ReferenceTable: random schemas, keys, values, timestamps and clocks; every reply is
// compared, contents in both directions and both row forms now and then, invariants in between.
//
// LISTSTORE_STEPS steps in runs of 5,000, run i under seed LISTSTORE_SEED + i. A failure names its
// run; to replay only that: LISTSTORE_SEED=<seed of the run> LISTSTORE_STEPS=5000, and
// LISTSTORE_TRACE=1 prints every operation.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/hash.h"
#include "engine/storage/table.h"
#include "gtest/gtest.h"
#include "tests/reference/reference_table.h"
#include "tests/storage/table_workload.h"
#include "tests/support/collecting_sink.h"
#include "tests/support/keeping_sink.h"
#include "tests/support/seed.h"
#include "tests/support/stored_copy.h"

namespace liststore::testing {
namespace table_model_test {

constexpr uint64_t kStepsPerRun = 5'000;
constexpr uint64_t kAmpleBytes = uint64_t{1} << 32;

// Any function of the key will do; few distinct ones make partitions share an address.
class HashedAddress : public storage::AddressOf {
 public:
  explicit HashedAddress(uint64_t distinct) : distinct_(distinct) {}
  uint64_t operator()(std::string_view partition_key) const override {
    const uint64_t hash = Hash64(partition_key);
    return distinct_ == 0 ? hash : (hash % distinct_) * 0x5555'5555'5555'5555u;
  }

 private:
  const uint64_t distinct_;
};

// One run: a workload, the two tables, and the comparison of their replies.
class TableModelRun {
 public:
  explicit TableModelRun(uint64_t seed)
      : workload_(seed),
        address_of_(workload_.plan().distinct_addresses),
        budget_(workload_.plan().memory_limit_bytes != 0 ? workload_.plan().memory_limit_bytes
                                                         : kAmpleBytes),
        pool_(budget_),
        table_(std::make_unique<storage::Table>(workload_.schema(), pool_, budget_, address_of_)),
        reference_(workload_.schema()),
        marks_(rng().OneIn(2)),
        trace_(std::getenv("LISTSTORE_TRACE") != nullptr) {}

  void Run(uint64_t steps);

  uint64_t refused() const { return refused_; }
  uint64_t rows_compared() const { return rows_compared_; }
  uint64_t rows_from_runs() const { return rows_from_runs_; }
  uint64_t tables_moved() const { return tables_moved_; }
  uint64_t views_taken() const { return views_taken_; }
  uint64_t returns() const { return returns_; }

 private:
  Random& rng() { return workload_.rng(); }
  int64_t now() const { return workload_.now_seconds(); }
  storage::PartitionRef RefOf(std::string_view key) const { return {key, address_of_(key)}; }
  storage::PartitionRef RandomPartition() { return RefOf(workload_.RandomPartitionKey()); }

  void Step();
  void Upsert(bool many);
  void UpsertPledged();
  void DeleteRows();
  void DeleteRange();
  void DeletePartition();
  void DeleteByValue();
  void Read(bool by_value);
  void CountRows();
  void Scan();
  void TruncateFirst();
  void Reclaim();
  void MoveToNewTable();
  void Mark();
  void ReturnToMark();
  void TakeView();
  void DropViews(size_t left);

  // Runs a write on Table and, unless it ran out of memory, on the reference.
  template <typename Write>
  void BothWrite(const Write& write);
  void CompareReadInPieces(const storage::PartitionRef& partition, const ReadSpec& whole,
                           const CollectingSink& expected);
  void CompareRead(const storage::PartitionRef& partition, const ReadSpec& spec,
                   bool accepts_packed_runs);
  void ComparePartition(const storage::PartitionRef& partition);
  void CompareAll();
  void CheckTimers();
  void DrainAndCheckMemory();
  void Trace(const std::string& what) const;

  TableWorkload workload_;
  HashedAddress address_of_;
  memory::MemoryBudget budget_;
  memory::PagePool pool_;
  std::unique_ptr<storage::Table> table_;
  ReferenceTable reference_;
  // At the mark, while there is one; in every other run.
  struct Marked {
    ReferenceTable reference;
    int64_t now_seconds;
  };
  std::optional<Marked> marked_;
  const bool marks_;
  const bool trace_;
  uint64_t step_ = 0;
  uint64_t refused_ = 0;
  uint64_t rows_compared_ = 0;
  uint64_t rows_from_runs_ = 0;
  uint64_t tables_moved_ = 0;
  uint64_t views_taken_ = 0;
  uint64_t returns_ = 0;
  std::vector<std::pair<storage::ViewPin*, KeepingSink>> views_;
};

void TableModelRun::Run(uint64_t steps) {
  const bool large = workload_.plan().large();
  const uint64_t verify_every = large ? 500 : 50;
  const uint64_t compare_every = large ? 1'000 : 200;
  for (; step_ < steps && !::testing::Test::HasFatalFailure(); ++step_) {
    Step();
    if (marks_ && rng().OneIn(50)) rng().OneIn(3) ? Mark() : ReturnToMark();
    if (step_ % verify_every == 0) table_->Verify();
    if (step_ % compare_every == 0 && !::testing::Test::HasFatalFailure()) CompareAll();
  }
  if (::testing::Test::HasFatalFailure()) return;
  table_->Verify();
  CompareAll();
  if (!::testing::Test::HasFatalFailure()) DrainAndCheckMemory();
}

void TableModelRun::Trace(const std::string& what) const {
  if (!trace_) return;
  std::printf("step %llu now=%lld: %s\n", static_cast<unsigned long long>(step_),
              static_cast<long long>(now()), what.c_str());
  std::fflush(stdout);
}

void TableModelRun::Step() {
  const TableOp op = workload_.NextOp(step_);
  if (trace_) Trace(std::string(TableOpName(op)));
  switch (op) {
    case TableOp::kUpsert:
      return Upsert(false);
    case TableOp::kUpsertMany:
      return Upsert(true);
    case TableOp::kUpsertPledged:
      return UpsertPledged();
    case TableOp::kDeleteRows:
      return DeleteRows();
    case TableOp::kDeleteRange:
      return DeleteRange();
    case TableOp::kDeletePartition:
      return DeletePartition();
    case TableOp::kDeleteByValue:
      return DeleteByValue();
    case TableOp::kRead:
      return Read(false);
    case TableOp::kReadByValue:
      return Read(true);
    case TableOp::kCountRows:
      return CountRows();
    case TableOp::kScan:
      return Scan();
    case TableOp::kTruncateAll:
      table_->TruncateAll();
      return reference_.TruncateAll();
    case TableOp::kTruncateFirst:
      return TruncateFirst();
    case TableOp::kTick:
      return workload_.Tick();
    case TableOp::kReclaim:
      return Reclaim();
  }
}

// --- Writes ---

template <typename Write>
void TableModelRun::BothWrite(const Write& write) {
  uint64_t removed = 0;
  if (write(*table_, &removed) == OpStatus::kOutOfMemory) {
    ASSERT_NE(workload_.plan().memory_limit_bytes, 0u) << "memory is ample in this run";
    ++refused_;
    return;
  }
  uint64_t removed_expected = 0;
  write(reference_, &removed_expected);
  ASSERT_EQ(removed, removed_expected);
}

void TableModelRun::Upsert(bool many) {
  const storage::PartitionRef partition = RandomPartition();
  const UpsertBatch batch = workload_.RandomUpsert(many);
  const WriteContext context = workload_.NextContext(step_);
  if (trace_) {
    Trace("  " + std::to_string(batch.rows.size()) + " rows ts=" +
          std::to_string(context.timestamp.micros) + (context.foreign_timestamp ? " foreign" : ""));
  }
  const uint64_t refused_before = refused_;
  BothWrite([&](auto& table, uint64_t*) { return table.Upsert(partition, batch.rows, context); });
  if (::testing::Test::HasFatalFailure()) return;
  if (refused_ != refused_before || rng().OneIn(many ? 16 : 200)) ComparePartition(partition);
}

// The statements of one batch: memory for all of them is pledged before any is applied.
void TableModelRun::UpsertPledged() {
  std::vector<storage::PartitionRef> partitions;
  std::vector<UpsertBatch> batches;
  const WriteContext context = workload_.NextContext(step_);
  std::map<std::string_view, storage::BatchShare> shares;  // by partition key
  const int64_t count = rng().Between(1, 4);
  batches.reserve(static_cast<size_t>(count));  // what is pledged points to them
  for (int64_t i = 0; i < count; ++i) {
    partitions.push_back(RandomPartition());
    batches.push_back(workload_.RandomUpsert(false));
    shares[partitions.back().key].upserts.push_back({batches.back().rows});
  }
  bool pledged = true;
  for (const storage::PartitionRef& partition : partitions) {
    const auto share = shares.extract(partition.key);
    if (share.empty() || !pledged) continue;  // several upserts of a partition share a pledge
    const auto& upserts = share.mapped().upserts;
    const OpStatus status = upserts.size() == 1
                                ? table_->Pledge(partition, upserts[0].rows, context)
                                : table_->PledgeShare(partition, share.mapped(), context);
    pledged = status == OpStatus::kOk;
  }
  table_->RedeemPledges();
  for (size_t i = 0; i < batches.size() && pledged; ++i) {
    ASSERT_EQ(table_->Upsert(partitions[i], batches[i].rows, context), OpStatus::kOk) << i;
    reference_.Upsert(partitions[i], batches[i].rows, context);
  }
  table_->ClearPledges();
  if (pledged) return;
  ASSERT_NE(workload_.plan().memory_limit_bytes, 0u) << "memory is ample in this run";
  ++refused_;
}

void TableModelRun::DeleteRows() {
  const storage::PartitionRef partition = RandomPartition();
  std::vector<ClusteringKeyView> keys;
  for (int64_t i = rng().Between(1, 4); i > 0; --i) keys.push_back(workload_.RandomKey().view);
  const WriteContext context = workload_.NextContext(step_);
  BothWrite([&](auto& table, uint64_t* removed) {
    return table.DeleteRows(partition, keys, context, removed);
  });
}

void TableModelRun::DeleteRange() {
  const storage::PartitionRef partition = RandomPartition();
  const OwnedRange range = workload_.RandomRange(workload_.plan().large());
  const WriteContext context = workload_.NextContext(step_);
  BothWrite([&](auto& table, uint64_t* removed) {
    return table.DeleteRange(partition, range.View(workload_.packs()), context, removed);
  });
}

void TableModelRun::DeletePartition() {
  const storage::PartitionRef partition = RandomPartition();
  const WriteContext context = workload_.NextContext(step_);
  BothWrite([&](auto& table, uint64_t* removed) {
    return table.DeletePartition(partition, context, removed);
  });
}

void TableModelRun::DeleteByValue() {
  const storage::PartitionRef partition = RandomPartition();
  const ColumnId column = workload_.RandomIndexedColumn();
  const std::string_view value = workload_.RandomValue();
  const WriteContext context = workload_.NextContext(step_);
  BothWrite([&](auto& table, uint64_t* removed) {
    return table.DeleteRowsByValue(partition, column, value, context, removed);
  });
}

// --- Reads ---

void TableModelRun::Read(bool by_value) {
  const storage::PartitionRef partition = RandomPartition();
  const OwnedRange range = workload_.RandomRange(false);
  ReadSpec spec;
  if (!rng().OneIn(4)) spec.range = range.View(workload_.packs());
  spec.descending = !rng().OneIn(3);
  if (!rng().OneIn(workload_.plan().large() ? 40 : 4)) {
    spec.limit = static_cast<uint64_t>(rng().Between(1, 60));
  }
  spec.with_static_row = rng().OneIn(2);
  if (rng().OneIn(4)) TakeView();
  if (rng().OneIn(4)) DropViews(rng().Below(8));
  if (by_value) spec.value_filter = {workload_.RandomIndexedColumn(), workload_.RandomValue()};
  CompareRead(partition, spec, rng().OneIn(2));
}

void TableModelRun::CompareRead(const storage::PartitionRef& partition, const ReadSpec& spec,
                                bool accepts_packed_runs) {
  CollectingSink expected(workload_.packs(), spec.descending, false);
  CollectingSink actual(workload_.packs(), spec.descending, accepts_packed_runs);
  const uint64_t count_expected = reference_.Read(partition, spec, now(), expected);
  const uint64_t count = table_->Read(partition, spec, now(), actual);
  ASSERT_EQ(FirstDifference(expected.rows(), actual.rows()), "")
      << (spec.descending ? "descending" : "ascending") << (spec.value_filter ? " by value" : "")
      << " limit=" << spec.limit << " partition of " << partition.key.size() << " bytes";
  ASSERT_EQ(count, count_expected);
  ASSERT_EQ(actual.complaint(), "");
  rows_compared_ += count;
  rows_from_runs_ += actual.rows_from_runs();
  if (rng().OneIn(4)) CompareReadInPieces(partition, spec, expected);
}

// The same read, which looks at a few rows each time and goes on where it stopped.
void TableModelRun::CompareReadInPieces(const storage::PartitionRef& partition,
                                        const ReadSpec& whole, const CollectingSink& expected) {
  struct Piece final : CollectingSink {
    using CollectingSink::CollectingSink;
    void OnStop(ClusteringKeyView key) override {
      char text[kItemKeyTextBytes];
      next = PlainKey(key, text);
    }
    std::optional<std::string> next;
  };
  ReadSpec spec = whole;
  spec.looks_max = static_cast<uint64_t>(rng().Between(1, workload_.plan().large() ? 500 : 9));
  std::vector<CollectedRow> rows;
  std::string bound;
  while (true) {
    Piece piece(workload_.packs(), spec.descending, rng().OneIn(2));
    const uint64_t count = table_->Read(partition, spec, now(), piece);
    ASSERT_EQ(piece.complaint(), "");
    rows.insert(rows.end(), piece.rows().begin(), piece.rows().end());
    if (spec.limit != UINT64_MAX) spec.limit -= count;
    if (!piece.next || spec.limit == 0) break;
    bound = spec.descending ? BoundAfterKey(*piece.next) : *piece.next;
    auto& end = spec.descending ? spec.range.upper : spec.range.lower;
    end = ClusteringBound::At(bound, workload_.packs());
    spec.with_static_row = false;
  }
  ASSERT_EQ(FirstDifference(expected.rows(), rows), "") << "looks_max=" << spec.looks_max;
}

void TableModelRun::CountRows() {
  const storage::PartitionRef partition = RandomPartition();
  const OwnedRange range = workload_.RandomRange(false);
  const ClusteringRange view = range.View(workload_.packs());
  const uint64_t expected = reference_.Count(partition, view, now());
  ASSERT_EQ(table_->Count(partition, view, now()), expected);
  if (!rng().OneIn(4)) return;
  // The same, which looks at a few rows each time.
  const auto looks_max = static_cast<uint64_t>(rng().Between(1, 100));
  ClusteringRange rest = view;
  uint64_t count = 0;
  std::string bound, next;
  do {
    bound = std::exchange(next, {});
    if (!bound.empty()) rest.lower = ClusteringBound::At(bound, workload_.packs());
    count += table_->Count(partition, rest, now(), nullptr, looks_max, &next);
  } while (!next.empty());
  ASSERT_EQ(count, expected) << "looks_max=" << looks_max;
}

void TableModelRun::Scan() {
  uint64_t from_address = 0;
  std::optional<std::string_view> after_key;
  if (rng().OneIn(2)) {
    const storage::PartitionRef from = RandomPartition();
    from_address = from.address + static_cast<uint64_t>(rng().Between(-1, 1));
    if (rng().OneIn(2)) after_key = from.key;
  }
  const uint64_t limit = rng().OneIn(3) ? 1 + rng().Below(5) : UINT64_MAX;
  using Visited = std::vector<std::pair<uint64_t, std::string>>;
  Visited expected;
  reference_.ScanPartitions(from_address, after_key, now(),
                            [&](uint64_t address, std::string_view key) {
                              expected.emplace_back(address, key);
                              return expected.size() < limit;
                            });
  Visited actual;
  table_->ScanPartitions(from_address, after_key,
                         [&](uint64_t address, const storage::Partition& partition) {
                           if (!partition.HasLiveData(now())) return true;
                           actual.emplace_back(address, partition.key());
                           return actual.size() < limit;
                         });
  ASSERT_EQ(actual, expected) << "from " << from_address;
}

void TableModelRun::ComparePartition(const storage::PartitionRef& partition) {
  for (const bool descending : {true, false}) {
    for (const bool accepts_packed_runs : {true, false}) {
      ReadSpec spec;
      spec.descending = descending;
      spec.with_static_row = true;
      CompareRead(partition, spec, accepts_packed_runs);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

void TableModelRun::CompareAll() {
  for (const std::string& key : workload_.partition_keys()) {
    const storage::PartitionRef partition = RefOf(key);
    ComparePartition(partition);
    if (::testing::Test::HasFatalFailure()) return;
    ASSERT_EQ(table_->Count(partition, {}, now()), reference_.Count(partition, {}, now()));
  }
  Scan();
  if (::testing::Test::HasFatalFailure()) return;
  ASSERT_GE(table_->stats().rows, reference_.CountAll(now()));
  CheckTimers();
}

// --- Time and memory ---

void TableModelRun::CheckTimers() {
  // For want of memory a partition may be looked at later than that.
  if (workload_.plan().memory_limit_bytes != 0) return;
  const std::optional<int64_t> earliest = reference_.EarliestExpiry(now());
  if (!earliest) return;
  const std::optional<int64_t> next = table_->NextExpiry();
  ASSERT_TRUE(next.has_value()) << "something expires at " << *earliest;
  ASSERT_LE(*next, *earliest);
}

void TableModelRun::TruncateFirst() {
  // Of tables of lists, which nobody marks.
  if (marks_) {
    table_->TruncateAll();
    return reference_.TruncateAll();
  }
  const std::string_view component = workload_.RandomFirstComponent();
  table_->TruncateFirstComponent(component);
  reference_.TruncateFirstComponent(component);
}

void TableModelRun::Mark() {
  if (rng().OneIn(10)) {
    table_->ForgetBaseline();
    marked_.reset();
    return;
  }
  Trace("  mark");
  table_->PrepareBaseline();
  table_->SetBaseline();
  marked_ = Marked{reference_, now()};
}

// The clock goes back with it, or on.
void TableModelRun::ReturnToMark() {
  if (!marked_) return;
  table_->PrepareBaseline();
  if (!table_->ReserveReturn()) {
    ASSERT_NE(workload_.plan().memory_limit_bytes, 0u) << "memory is ample in this run";
    return;
  }
  if (rng().OneIn(2)) workload_.SetTime(marked_->now_seconds);
  Trace("  return");
  table_->ReturnToBaseline(now());
  reference_ = marked_->reference;
  ++returns_;
  if (!rng().OneIn(4)) return;
  table_->Verify();
  CompareAll();
}

// Whatever is done from here on, the rows of the view stay as they are.
void TableModelRun::TakeView() {
  ReadSpec spec;
  if (rng().OneIn(2)) spec.limit = static_cast<uint64_t>(rng().Between(1, 60));
  KeepingSink sink(rng().OneIn(2));
  uint64_t rows = 0;
  storage::ViewPin* pin = table_->View(RandomPartition(), spec, now(), sink, rows);
  ASSERT_EQ(pin != nullptr, sink.kept() > 0);
  if (pin == nullptr) return;
  views_.emplace_back(pin, std::move(sink));
  ++views_taken_;
}

void TableModelRun::DropViews(size_t left) {
  for (const auto& [pin, sink] : views_) {
    ASSERT_TRUE(sink.Unchanged()) << views_taken_ << " views taken";
  }
  while (views_.size() > left) {
    std::swap(views_[rng().Below(views_.size())], views_.back());
    table_->pins().Post(views_.back().first);
    views_.pop_back();
  }
}

// Everything stored, as it is copied out, makes another table that answers the same.
void TableModelRun::MoveToNewTable() {
  StoredCopy copy(workload_.packs());
  table_->ScanPartitions(0, std::nullopt, [&](uint64_t, const storage::Partition& partition) {
    table_->SendStored(partition, now(), copy);
    return true;
  });
  auto moved = std::make_unique<storage::Table>(workload_.schema(), pool_, budget_, address_of_);
  for (const StoredCopy::Part& part : copy.parts()) {
    // In two calls, as pieces of a long partition come.
    const size_t half = part.rows.size() / 2;
    const std::span<const StoredRow> rows = part.rows;
    StoredPartition rest = part.head;
    rest.tombstone = {};
    rest.ranges = {};
    rest.static_cells = {};
    const storage::PartitionRef partition = RefOf(part.head.key);
    if (moved->Restore(partition, part.head, rows.first(half), now()) != OpStatus::kOk ||
        moved->Restore(partition, rest, rows.subspan(half), now()) != OpStatus::kOk) {
      ASSERT_NE(workload_.plan().memory_limit_bytes, 0u) << "memory is ample in this run";
      return;
    }
  }
  moved->Verify();
  ASSERT_EQ(moved->stats().slabs_beyond_limit, 0u);
  DropViews(0);
  table_ = std::move(moved);
  marked_.reset();
  // Partitions bring along that timestamps were foreign; where there are none, nobody says so.
  if (copy.parts().empty()) {
    ASSERT_TRUE(reference_.BeginAnew(now())) << "nothing was stored";
  }
  ++tables_moved_;
}

void TableModelRun::Reclaim() {
  if (rng().OneIn(20)) return MoveToNewTable();
  constexpr size_t kBudgets[] = {1, 3, 20, 200, 5'000};
  const size_t budget = kBudgets[rng().Below(std::size(kBudgets))];
  const bool wanted = table_->WantsReclaim(now());
  const size_t done = table_->Reclaim(now(), budget);
  if (trace_) Trace("  budget " + std::to_string(budget) + " done " + std::to_string(done));
  ASSERT_TRUE(wanted || done == 0) << "nothing was said to wait";
}

// Nothing is left of a truncated table once its work is done.
void TableModelRun::DrainAndCheckMemory() {
  table_->ForgetBaseline();
  table_->TruncateAll();
  reference_.TruncateAll();
  DropViews(0);
  CompareAll();
  if (::testing::Test::HasFatalFailure()) return;
  constexpr int kTurnsMax = 1'000'000;
  int turns = 0;
  while (table_->Reclaim(now(), 64) > 0) {
    ASSERT_LT(++turns, kTurnsMax) << "reclamation comes to an end";
  }
  ASSERT_FALSE(table_->WantsReclaim(now()));
  table_->Verify();
  ASSERT_EQ(table_->stats().partitions, 0u);
  ASSERT_EQ(table_->stats().rows, 0u);
  ASSERT_EQ(table_->stats().slabs_beyond_limit, 0u) << "the slack was enough";
}

// --- The test ---

TEST(TableModelTest, AgreesWithTheReference) {
  const uint64_t seed = TestSeed();
  const uint64_t steps = TestSteps(1'000'000);
  uint64_t refused = 0;
  uint64_t rows_compared = 0;
  uint64_t rows_from_runs = 0;
  uint64_t tables_moved = 0;
  uint64_t views_taken = 0;
  uint64_t returns = 0;
  for (uint64_t run = 0; run * kStepsPerRun < steps; ++run) {
    SCOPED_TRACE("replay with LISTSTORE_SEED=" + std::to_string(seed + run) +
                 " LISTSTORE_STEPS=" + std::to_string(kStepsPerRun));
    // A failed check ends the process: what ran must be known by then.
    std::printf("run seed=%llu\n", static_cast<unsigned long long>(seed + run));
    std::fflush(stdout);
    TableModelRun model(seed + run);
    model.Run(std::min(kStepsPerRun, steps - run * kStepsPerRun));
    if (HasFatalFailure()) return;
    refused += model.refused();
    rows_compared += model.rows_compared();
    rows_from_runs += model.rows_from_runs();
    tables_moved += model.tables_moved();
    views_taken += model.views_taken();
    returns += model.returns();
  }
  std::printf("%llu tables moved, %llu views taken, %llu returns to a mark; ",
              static_cast<unsigned long long>(tables_moved),
              static_cast<unsigned long long>(views_taken),
              static_cast<unsigned long long>(returns));
  std::printf("compared %llu rows, %llu of them from packed runs; %llu writes refused\n",
              static_cast<unsigned long long>(rows_compared),
              static_cast<unsigned long long>(rows_from_runs),
              static_cast<unsigned long long>(refused));
}

}  // namespace table_model_test
}  // namespace liststore::testing
