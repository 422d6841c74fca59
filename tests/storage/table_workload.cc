#include "tests/storage/table_workload.h"

#include <algorithm>
#include <limits>
#include <set>

#include "engine/base/check.h"
#include "engine/model/partition_key.h"
#include "tests/support/random_values.h"

namespace liststore::testing {
namespace {

constexpr int64_t kDay = 86'400;
// Expiry instants are kept in 32 bits by storage; the latest TTL must still fit (the year 2077
// here).
constexpr int64_t kNowSecondsMax = 3'400'000'000;
constexpr size_t kNoiseBytes = 400'000;

}  // namespace

std::string_view TableOpName(TableOp op) {
  constexpr std::string_view kNames[] = {"upsert",          "upsert many",  "upsert pledged",
                                         "delete rows",     "delete range", "delete partition",
                                         "delete by value", "read",         "read by value",
                                         "count",           "scan",         "truncate all",
                                         "truncate first",  "tick",         "reclaim"};
  static_assert(std::size(kNames) == kTableOps);
  return kNames[static_cast<size_t>(op)];
}

TableSchema ListItemsSchema() {
  TableSchema schema;
  schema.keyspace = "feature_store";
  schema.name = "list_items";
  schema.partition_key = {{"feature_key", CqlType::kText}, {"entity_id", CqlType::kText}};
  schema.clustering = {{"item_key", CqlType::kText, true}};
  schema.regular = {{"value", CqlType::kBlob}};
  schema.indexes = {{"list_items_by_value", 0}};
  return schema;
}

TableSchema RandomSchema(Random& rng) {
  TableSchema schema;
  schema.keyspace = "ks";
  schema.name = "random_table";
  for (int64_t i = rng.Between(1, 3); i > 0; --i) {
    schema.partition_key.push_back({"p" + std::to_string(i), CqlType::kBlob});
  }
  for (int64_t i = rng.Between(0, 3); i > 0; --i) {
    const CqlType type = rng.OneIn(3) ? CqlType::kText : RandomKeyType(rng);
    schema.clustering.push_back({"c" + std::to_string(i), type, rng.OneIn(2)});
  }
  const int64_t regular = rng.Between(0, 5);
  for (int64_t i = 0; i < regular; ++i) {
    schema.regular.push_back({"v" + std::to_string(i), CqlType::kBlob});
  }
  std::set<ColumnId> indexed;
  for (int64_t i = rng.Between(0, std::min<int64_t>(2, regular)); i > 0; --i) {
    indexed.insert(static_cast<ColumnId>(rng.Below(static_cast<uint64_t>(regular))));
  }
  for (const ColumnId column : indexed) {
    schema.indexes.push_back({"by_" + schema.regular[column].name, column});
  }
  return schema;
}

ClusteringRange OwnedRange::View(bool packs_item_keys) const {
  ClusteringRange range;
  if (!from_begin) range.lower = ClusteringBound::At(lower_bytes, packs_item_keys);
  if (!to_end) range.upper = ClusteringBound::At(upper_bytes, packs_item_keys);
  return range;
}

// --- The plan of a run ---

TableWorkload::TableWorkload(uint64_t seed) : rng_(seed) {
  schema_ = rng_.OneIn(2) ? ListItemsSchema() : RandomSchema(rng_);
  if (!schema_.clustering.empty() && rng_.OneIn(3)) {
    for (int64_t i = rng_.Between(1, 3); i > 0; --i) {
      schema_.statics.push_back({"s" + std::to_string(schema_.statics.size()), CqlType::kBlob});
    }
  }
  DrawPlan();
  DrawTimes();
  DrawWeights();
  MakePartitionKeys();
  MakeClusteringKeys();
  MakeValues();
}

void TableWorkload::DrawPlan() {
  constexpr size_t kPartitions[] = {1, 1, 2, 5, 40, 300};
  constexpr size_t kKeys[] = {1, 4, 12, 40, 200, 1'000, 4'000};
  plan_.partitions = Pick(kPartitions);
  plan_.keys = Pick(kKeys);
  if (plan_.partitions * plan_.keys > 8'000) plan_.partitions = 2;
  plan_.many_rows_max = plan_.large() ? 600 : 40;
  if (rng_.OneIn(3)) plan_.distinct_addresses = 1 + rng_.Below(3);
  plan_.hot = packs() && schema_.regular.size() == 1 && rng_.OneIn(3);
  if (plan_.hot || rng_.OneIn(2)) plan_.value_bytes_fixed = uint64_t{8} << rng_.Below(4);
  if (rng_.OneIn(8)) plan_.value_bytes_fixed = 1'500;  // few rows fill a leaf
  plan_.huge_values = rng_.OneIn(5);
  if (rng_.OneIn(2)) plan_.element_columns = rng_.Below(uint64_t{1} << 16);
  if (rng_.OneIn(4)) plan_.memory_limit_bytes = uint64_t{512} << 10 << rng_.Below(3);
}

void TableWorkload::DrawTimes() {
  constexpr int64_t kGrace[] = {0, 3, 60, 864'000};
  schema_.gc_grace_seconds = Pick(kGrace);
  plan_.timestamps = static_cast<WorkloadPlan::Timestamps>(rng_.Below(3));
  plan_.switch_step = 500 + rng_.Below(3'000);
  plan_.foreign_follows_clock = rng_.OneIn(2);
  plan_.foreign_extremes = rng_.OneIn(4);
  constexpr int64_t kWindows[] = {2, 20, 1'000, 5'000'000'000};
  plan_.foreign_window = Pick(kWindows);
  plan_.ttl_kind = static_cast<int>(rng_.Below(4));
  plan_.clock_kind = static_cast<int>(rng_.Below(4));
}

void TableWorkload::DrawWeights() {
  //                                  upsert many pledged rows range part value
  constexpr uint32_t kUsual[kTableOps] = {300, 15, 20, 80, 30, 8, 40,
                                          // read by cnt scan all first tick reclaim
                                          150, 60, 40, 8, 1, 3, 80, 60};
  std::copy(std::begin(kUsual), std::end(kUsual), plan_.weights.begin());
  const auto weight = [&](TableOp op) -> uint32_t& {
    return plan_.weights[static_cast<size_t>(op)];
  };
  if (plan_.large()) {
    // Large partitions must be let grow, and cost more to look at.
    weight(TableOp::kUpsertMany) = 40;
    weight(TableOp::kDeletePartition) = 1;
    weight(TableOp::kDeleteRange) = 15;
    weight(TableOp::kTruncateFirst) = 1;
    weight(TableOp::kCountRows) = 8;
    weight(TableOp::kScan) = 2;
  }
  for (size_t op = 1; op < kTableOps; ++op) {
    if (rng_.OneIn(4)) plan_.weights[op] = 0;
    if (rng_.OneIn(8)) plan_.weights[op] *= 5;
  }
  if (!HasIndex()) weight(TableOp::kDeleteByValue) = weight(TableOp::kReadByValue) = 0;
  if (schema_.partition_key.size() == 1) weight(TableOp::kTruncateFirst) = 0;
  for (const uint32_t each : plan_.weights) weight_total_ += each;
}

// --- Keys and values ---

void TableWorkload::MakePartitionKeys() {
  const size_t components = schema_.partition_key.size();
  for (uint64_t i = 1 + rng_.Below(4); i > 0; --i) {
    first_components_.push_back("user#f" + std::to_string(i) + "|");
  }
  std::set<std::string> keys;
  for (size_t i = 0; i < plan_.partitions; ++i) {
    std::vector<std::string> parts = {components == 1 ? "p" + std::to_string(i)
                                                      : Pick(first_components_)};
    while (parts.size() < components) {
      parts.push_back(RandomBytes(rng_, rng_.OneIn(20) ? 3'000 : rng_.Below(30)));
    }
    std::string key;
    AppendPartitionKey(std::vector<std::string_view>(parts.begin(), parts.end()), key);
    keys.insert(std::move(key));
  }
  partition_keys_.assign(keys.begin(), keys.end());
}

// Canonical item keys for the most part; else what looks like one and is not, or any text.
std::string TableWorkload::RandomItemKeyLike() {
  constexpr uint64_t kNow = 1'724'949'845'430'000'000;
  const uint64_t spread = rng_.OneIn(2) ? 5 : 4'000'000'000'000;
  std::string key = RandomItemKey(rng_, kNow + rng_.Below(spread));
  if (plan_.hot) return key;
  switch (rng_.Below(24)) {
    case 0:
      key[41] = key[41] == 'B' ? 'R' : 'B';
      break;  // the unused bits of base64 are set
    case 1:
      key.erase(0, 1);
      break;  // 18 digits
    case 2:
      key[20 + rng_.Below(20)] ^= 0x20;
      break;  // another case, mostly
    case 3:
      key.pop_back();
      break;
    case 4:
      key += Pick(std::string_view("\0A=", 3));
      break;
    case 5:
      key.resize(19 + rng_.Below(2));
      break;
    case 6:
      return RandomBytes(rng_, rng_.Below(70));
    case 7:
      return RandomBytes(rng_, rng_.Below(3));
    default:
      break;
  }
  return key;
}

std::string TableWorkload::RandomTypedKey() {
  std::vector<std::string> values;
  for (const ClusteringColumnSchema& column : schema_.clustering) {
    values.push_back(RandomKeyValue(rng_, column.type.native()));
  }
  std::string key;
  EncodeClusteringKey(schema_.clustering, values, key);
  return key;
}

void TableWorkload::MakeClusteringKeys() {
  std::set<std::string> plain;
  for (size_t tries = 0; plain.size() < plan_.keys && tries < 3 * plan_.keys; ++tries) {
    plain.insert(packs() ? RandomItemKeyLike() : RandomTypedKey());
  }
  keys_.reserve(plain.size());
  for (const std::string& key : plain) {
    PooledKey& pooled = keys_.emplace_back();
    pooled.plain = key;
    pooled.view = MakeClusteringKey(pooled.plain, packs(), pooled.packed);
  }
}

void TableWorkload::MakeValues() {
  noise_ = RandomBytes(rng_, kNoiseBytes);
  for (int i = 0; i < 6; ++i) {
    values_.push_back(
        RandomBytes(rng_, plan_.value_bytes_fixed != 0 ? plan_.value_bytes_fixed : rng_.Below(40)));
  }
  if (plan_.value_bytes_fixed == 0) values_.push_back("");
  const size_t paths = rng_.OneIn(4) ? 200 : 8;
  for (size_t i = 0; i < paths; ++i) paths_.push_back("e" + RandomBytes(rng_, rng_.Below(20)));
  if (rng_.OneIn(8)) paths_.push_back("e" + RandomBytes(rng_, 3'000));
}

// Statics have the upper bits.
bool TableWorkload::HasElements(bool is_static, size_t column) const {
  const bool indexed =
      !is_static && std::any_of(schema_.indexes.begin(), schema_.indexes.end(),
                                [&](const IndexSchema& index) { return index.column == column; });
  return !indexed && (plan_.element_columns >> ((is_static ? 8 : 0) + column) & 1) != 0;
}

// Some of them, or the deletion of all, or both: as an assignment of a whole value has it.
void TableWorkload::AddElements(ColumnId column, std::vector<CellUpdate>& cells) {
  const bool deletes = rng_.OneIn(4);
  if (deletes) {
    cells.push_back({.column = column, .live = false, .makes_way = rng_.OneIn(2)});
    if (rng_.OneIn(3)) return;
  }
  for (uint64_t i = rng_.OneIn(30) ? 60 : rng_.Below(5); i > 0; --i) {
    const bool live = !rng_.OneIn(4);
    cells.push_back({.column = column,
                     .live = live,
                     .value = live ? RandomValue() : std::string_view(),
                     .path = Pick(paths_)});
  }
}

std::string_view TableWorkload::RandomValue() {
  if (rng_.OneIn(2)) return Pick(values_);
  uint64_t bytes = plan_.value_bytes_fixed != 0 ? plan_.value_bytes_fixed : rng_.Below(100);
  if (!plan_.hot && rng_.OneIn(plan_.value_bytes_fixed != 0 ? 400 : 60)) bytes = rng_.Below(3'000);
  if (plan_.huge_values && rng_.OneIn(1'500)) bytes = rng_.Below(kNoiseBytes);
  return std::string_view(noise_).substr(rng_.Below(kNoiseBytes - bytes), bytes);
}

// --- Operations ---

TableOp TableWorkload::NextOp(uint64_t step) {
  // Let there be something to delete first.
  if (step < 3) return TableOp::kUpsertMany;
  uint64_t ticket = rng_.Below(weight_total_);
  for (size_t op = 0; op < kTableOps; ++op) {
    if (ticket < plan_.weights[op]) return static_cast<TableOp>(op);
    ticket -= plan_.weights[op];
  }
  LS_UNREACHABLE("a ticket lies below the sum of the weights");
}

void TableWorkload::Tick() {
  int64_t seconds = rng_.Between(0, 2);
  switch (plan_.clock_kind) {
    case 0:
      break;
    case 1:
      seconds = rng_.OneIn(4) ? rng_.Between(1, 100) : 0;
      break;
    case 2:
      seconds = rng_.OneIn(20) ? rng_.Between(1, 40) * kDay : seconds;
      break;
    default:
      seconds = rng_.OneIn(100) ? rng_.Between(1, 21) * 365 * kDay : seconds * 300;
      break;
  }
  if (now_seconds_ + seconds <= kNowSecondsMax) now_seconds_ += seconds;
}

int64_t TableWorkload::RandomTtl() {
  switch (plan_.ttl_kind) {
    case 0:
      return 0;
    case 1:
      return rng_.OneIn(3) ? 0 : rng_.Between(1, 6);
    case 2:
      return 30 * kDay + rng_.Between(0, 3);
    default:
      break;
  }
  constexpr int64_t kTtls[] = {0, 1, 2, 10, 59, 64, 3'600, 5 * kDay, 30 * kDay, kTtlSecondsMax};
  return Pick(kTtls);
}

WriteTimestamp TableWorkload::OwnTimestamp() {
  // The statements of one batch share a timestamp.
  const int64_t next = own_micros_ + (rng_.OneIn(8) ? 0 : 1);
  own_micros_ = std::max(next, now_seconds_ * 1'000'000);
  return {own_micros_};
}

WriteTimestamp TableWorkload::ForeignTimestamp() {
  if (rng_.OneIn(6)) return {foreign_last_};
  constexpr int64_t kSmallest = std::numeric_limits<int64_t>::min() + 1;
  constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();
  if (plan_.foreign_extremes && rng_.OneIn(200)) return {rng_.OneIn(2) ? kSmallest : kLargest};
  const int64_t base =
      plan_.foreign_follows_clock ? now_seconds_ * 1'000'000 : (rng_.OneIn(50) ? 0 : 1'000);
  foreign_last_ = base + rng_.Between(-plan_.foreign_window, plan_.foreign_window);
  return {foreign_last_};
}

WriteContext TableWorkload::NextContext(uint64_t step) {
  using Timestamps = WorkloadPlan::Timestamps;
  const bool foreign = plan_.timestamps == Timestamps::kForeign ||
                       (plan_.timestamps == Timestamps::kOwnThenForeign &&
                        step >= plan_.switch_step && !rng_.OneIn(3));
  return {foreign ? ForeignTimestamp() : OwnTimestamp(), now_seconds_, foreign};
}

std::string TableWorkload::RandomBoundBytes(size_t key_index) {
  const std::string& key = keys_[key_index].plain;
  const std::string prefix = key.substr(0, rng_.Below(key.size() + 1));
  switch (rng_.Below(8)) {
    case 0:
      return BoundAfterKey(key);
    case 1:
      return prefix;
    case 2:
      return BoundAfterPrefix(prefix).value_or(prefix);
    case 3:
      return key.substr(0, std::min<size_t>(key.size(), 19));
    case 4:
      return key.substr(0, std::min<size_t>(key.size(), 19)) + "#";
    case 5:
      return RandomBytes(rng_, rng_.Below(50));
    default:
      return key;
  }
}

OwnedRange TableWorkload::RandomRange(bool narrow) {
  OwnedRange range;
  const bool wide = !narrow || rng_.OneIn(20);
  range.from_begin = wide && rng_.OneIn(4);
  range.to_end = wide && rng_.OneIn(3);
  const size_t first = rng_.Below(keys_.size());
  const size_t span = wide && rng_.OneIn(3) ? keys_.size() : 1 + rng_.Below(20);
  const size_t last = std::min(keys_.size() - 1, first + rng_.Below(span));
  range.lower_bytes = RandomBoundBytes(first);
  range.upper_bytes = RandomBoundBytes(last);
  const bool reversed = range.upper_bytes < range.lower_bytes;
  if (reversed && !rng_.OneIn(8)) std::swap(range.lower_bytes, range.upper_bytes);
  return range;
}

UpsertBatch TableWorkload::RandomUpsert(bool many) {
  UpsertBatch batch;
  const size_t rows =
      many ? 1 + rng_.Below(plan_.many_rows_max) : (rng_.OneIn(3) ? 1 + rng_.Below(10) : 1);
  // Neighbours in key order, upwards as new items come, or anywhere.
  const bool sequential = many && rng_.OneIn(2);
  const size_t start = rng_.Below(keys_.size());
  const bool one_ttl = !rng_.OneIn(4);
  int64_t ttl_seconds = RandomTtl();
  for (size_t i = 0; i < rows; ++i) {
    RowUpdate& row = batch.rows.emplace_back();
    row.of_static_row = !schema_.statics.empty() && rng_.OneIn(plan_.hot || many ? 40 : 6);
    if (!row.of_static_row) {
      row.key = (sequential ? keys_[(start + i) % keys_.size()] : RandomKey()).view;
    }
    row.marker = !row.of_static_row && (plan_.hot || !rng_.OneIn(5));
    if (!one_ttl) ttl_seconds = RandomTtl();
    row.ttl_seconds = ttl_seconds;
    row.expiry_seconds = ttl_seconds == 0 ? kNoExpiry : now_seconds_ + ttl_seconds;
    std::vector<CellUpdate>& cells = batch.cells.emplace_back();
    const size_t columns = row.of_static_row ? schema_.statics.size() : schema_.regular.size();
    for (size_t column = 0; column < columns; ++column) {
      if (!plan_.hot && rng_.OneIn(columns == 1 ? 20 : 3)) continue;
      if (HasElements(row.of_static_row, column)) {
        AddElements(static_cast<ColumnId>(column), cells);
        continue;
      }
      const bool live = plan_.hot || !rng_.OneIn(12);
      cells.push_back({.column = static_cast<ColumnId>(column),
                       .live = live,
                       .value = live ? RandomValue() : std::string_view()});
    }
    row.cells = cells;
  }
  return batch;
}

}  // namespace liststore::testing
