// Scripts of writes and of what must be seen, for tests that state rules: they run on anything with
// Table's operations, so that Table and ReferenceTable are held to the same sentences.
//
// A script's table has the columns v (indexed) and, when it uses it, w. Its keys are single
// letters, which a run may turn into item keys; elements of w are seen as "+", path and value.
// Timestamps are small numbers on top of the starting time.
#ifndef LISTSTORE_TESTS_STORAGE_TABLE_SCRIPT_H_
#define LISTSTORE_TESTS_STORAGE_TABLE_SCRIPT_H_

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "engine/storage/table.h"
#include "gtest/gtest.h"
#include "tests/support/collecting_sink.h"

namespace liststore::testing {

inline constexpr int64_t kScriptStartSeconds = 1'000'000;
inline constexpr int64_t kScriptGraceSeconds = 100;

struct ScriptStep {
  enum class Kind {
    kUpsert,
    kDeleteRow,
    kDeleteRange,
    kDeletePartition,
    kDeleteByValue,
    kWait,
    kTruncate,
    kSees,
    kFinds,
    kRemoved,
  };
  struct Cell {
    ColumnId column;
    std::optional<std::string> value;  // nullopt: null
    std::string path = {};             // of an element
    bool makes_way = false;
  };

  Kind kind;
  std::string key = {};
  int64_t timestamp = 0;
  bool marker = false;
  int64_t ttl_seconds = 0;
  std::vector<Cell> cells = {};
  std::string upper_key = {};
  std::string text = {};              // a value to look for, or what must be seen
  int64_t number = 0;                 // seconds, or rows removed
  std::vector<ScriptStep> more = {};  // further rows of the same upsert
  bool own_timestamp = false;
  bool is_static = false;

  ScriptStep V(std::string value) && { return std::move(*this).Set(0, std::move(value)); }
  ScriptStep W(std::string value) && { return std::move(*this).Set(1, std::move(value)); }
  ScriptStep NullV() && { return std::move(*this).Set(0, std::nullopt); }
  ScriptStep NullW() && { return std::move(*this).Set(1, std::nullopt); }
  // Elements of w, and a null of it that makes way for them.
  ScriptStep E(std::string path, std::string value) && {
    cells.push_back({1, std::move(value), std::move(path)});
    return std::move(*this);
  }
  ScriptStep NullE(std::string path) && {
    cells.push_back({1, std::nullopt, std::move(path)});
    return std::move(*this);
  }
  ScriptStep Whole() && {
    cells.push_back({1, std::nullopt, {}, true});
    return std::move(*this);
  }
  ScriptStep Ttl(int64_t seconds) && {
    ttl_seconds = seconds;
    return std::move(*this);
  }
  // The timestamp is the table's own, not a client's.
  ScriptStep Own() && {
    own_timestamp = true;
    return std::move(*this);
  }
  ScriptStep With(ScriptStep other) && {
    more.push_back(std::move(other));
    return std::move(*this);
  }

 private:
  ScriptStep Set(ColumnId column, std::optional<std::string> value) && {
    cells.push_back({column, std::move(value)});
    return std::move(*this);
  }
};

inline ScriptStep Insert(std::string key, int64_t timestamp) {
  return {.kind = ScriptStep::Kind::kUpsert,
          .key = std::move(key),
          .timestamp = timestamp,
          .marker = true};
}
inline ScriptStep Update(std::string key, int64_t timestamp) {
  return {.kind = ScriptStep::Kind::kUpsert, .key = std::move(key), .timestamp = timestamp};
}
// V and W are columns of the static row here.
inline ScriptStep Static(int64_t timestamp) {
  return {.kind = ScriptStep::Kind::kUpsert, .timestamp = timestamp, .is_static = true};
}
inline ScriptStep DeleteRow(std::string key, int64_t timestamp) {
  return {.kind = ScriptStep::Kind::kDeleteRow, .key = std::move(key), .timestamp = timestamp};
}
// Keys in [lower, upper).
inline ScriptStep DeleteRange(std::string lower, std::string upper, int64_t timestamp) {
  return {.kind = ScriptStep::Kind::kDeleteRange,
          .key = std::move(lower),
          .timestamp = timestamp,
          .upper_key = std::move(upper)};
}
inline ScriptStep DeletePartition(int64_t timestamp) {
  return {.kind = ScriptStep::Kind::kDeletePartition, .timestamp = timestamp};
}
inline ScriptStep DeleteByValue(std::string value, int64_t timestamp) {
  return {
      .kind = ScriptStep::Kind::kDeleteByValue, .timestamp = timestamp, .text = std::move(value)};
}
inline ScriptStep Wait(int64_t seconds) {
  return {.kind = ScriptStep::Kind::kWait, .number = seconds};
}
inline ScriptStep Truncate() { return {.kind = ScriptStep::Kind::kTruncate}; }
// What a descending read shows: "b=x a=y+z" for rows b (v = x) and a (v = y, w = z), "a" alone when
// it has no value; before them "*=x" for a static row. Counts must agree.
inline ScriptStep Sees(std::string rows) {
  return {.kind = ScriptStep::Kind::kSees, .text = std::move(rows)};
}
// The keys, descending, of the rows that the index on v finds under `value`.
inline ScriptStep Finds(std::string value, std::string keys) {
  return {.kind = ScriptStep::Kind::kFinds, .key = std::move(keys), .text = std::move(value)};
}
// How many live rows the deletion just before removed.
inline ScriptStep Removed(int64_t rows) {
  return {.kind = ScriptStep::Kind::kRemoved, .number = rows};
}

using Script = std::vector<ScriptStep>;
bool UsesW(const Script& script);

// The table of a script: partition key of two blobs, one text clustering column that descends.
TableSchema ScriptSchema(bool with_w);

// Runs scripts on `T`, which is Table or ReferenceTable.
template <typename T>
class ScriptRunner {
 public:
  ScriptRunner(T& table, const storage::PartitionRef& partition, bool item_keys)
      : table_(table), partition_(partition), item_keys_(item_keys) {}

  // Calls `after_step(now_seconds)` after each step.
  template <typename AfterStep>
  void Run(const Script& script, AfterStep&& after_step) {
    for (size_t i = 0; i < script.size() && !::testing::Test::HasFailure(); ++i) {
      SCOPED_TRACE("step " + std::to_string(i + 1));
      RunStep(script[i]);
      after_step(now_seconds_);
    }
  }

 private:
  // The key of a letter: itself, or an item key whose nanoseconds begin with it.
  std::string KeyOf(const std::string& letter) const {
    if (!item_keys_ || letter.empty()) return letter;
    return "17249498454" + std::to_string(10'000'000 + letter[0]) + "#cUEirgoj2hOWvLLGgJ8hrQ==";
  }
  std::string LetterOf(const std::string& key) const {
    return item_keys_ && !key.empty()
               ? std::string(1, static_cast<char>(std::stoi(key.substr(11, 8)) - 10'000'000))
               : key;
  }
  bool packs() const { return table_.schema().packs_item_keys(); }
  WriteContext ContextOf(const ScriptStep& step) const {
    return {{kScriptStartSeconds * 1'000'000 + step.timestamp}, now_seconds_, !step.own_timestamp};
  }

  void RunStep(const ScriptStep& step) {
    using Kind = ScriptStep::Kind;
    OpStatus status = OpStatus::kOk;
    switch (step.kind) {
      case Kind::kUpsert:
        status = Upsert(step);
        break;
      case Kind::kDeleteRow:
        status = Delete(step);
        break;
      case Kind::kDeleteRange: {
        const std::string lower = KeyOf(step.key);
        const std::string upper = KeyOf(step.upper_key);
        const ClusteringRange range = {ClusteringBound::At(lower, packs()),
                                       ClusteringBound::At(upper, packs())};
        status = table_.DeleteRange(partition_, range, ContextOf(step), &removed_);
        break;
      }
      case Kind::kDeletePartition:
        status = table_.DeletePartition(partition_, ContextOf(step), &removed_);
        break;
      case Kind::kDeleteByValue:
        status = table_.DeleteRowsByValue(partition_, 0, step.text, ContextOf(step), &removed_);
        break;
      case Kind::kWait:
        now_seconds_ += step.number;
        break;
      case Kind::kTruncate:
        table_.TruncateAll();
        break;
      case Kind::kSees:
        ExpectSeen(step.text);
        break;
      case Kind::kFinds:
        ExpectFound(step.text, step.key);
        break;
      case Kind::kRemoved:
        EXPECT_EQ(removed_, static_cast<uint64_t>(step.number));
        break;
    }
    EXPECT_EQ(status, OpStatus::kOk);
  }

  OpStatus Upsert(const ScriptStep& first) {
    std::vector<const ScriptStep*> steps = {&first};
    for (const ScriptStep& step : first.more) steps.push_back(&step);
    struct Backing {
      std::string key;
      PackedItemKey packed;
      std::vector<CellUpdate> cells;
    };
    std::vector<Backing> backing(steps.size());
    std::vector<RowUpdate> rows;
    for (size_t i = 0; i < steps.size(); ++i) {
      const ScriptStep& step = *steps[i];
      backing[i].key = KeyOf(step.key);
      for (const ScriptStep::Cell& cell : step.cells) {
        backing[i].cells.push_back({.column = cell.column,
                                    .live = cell.value.has_value(),
                                    .makes_way = cell.makes_way,
                                    .value = cell.value ? std::string_view(*cell.value) : "",
                                    .path = cell.path});
      }
      rows.push_back(
          {.key = MakeClusteringKey(backing[i].key, packs(), backing[i].packed),
           .marker = step.marker,
           .of_static_row = step.is_static,
           .ttl_seconds = step.ttl_seconds,
           .expiry_seconds = step.ttl_seconds == 0 ? kNoExpiry : now_seconds_ + step.ttl_seconds,
           .cells = backing[i].cells});
    }
    return table_.Upsert(partition_, rows, ContextOf(first));
  }

  OpStatus Delete(const ScriptStep& step) {
    const std::string key = KeyOf(step.key);
    PackedItemKey packed;
    const ClusteringKeyView view = MakeClusteringKey(key, packs(), packed);
    return table_.DeleteRows(partition_, {&view, 1}, ContextOf(step), &removed_);
  }

  void ExpectSeen(const std::string& expected) {
    for (const bool accepts_packed_runs : {false, true}) {
      CollectingSink sink(packs(), true, accepts_packed_runs);
      ReadSpec spec;
      spec.with_static_row = true;
      const uint64_t rows = table_.Read(partition_, spec, now_seconds_, sink);
      EXPECT_EQ(sink.complaint(), "");
      std::string seen;
      for (const CollectedRow& row : sink.rows()) {
        seen += (seen.empty() ? "" : " ") + (row.is_static ? "*" : LetterOf(row.key));
        for (const CollectedCell& cell : row.cells) {
          seen += (cell.column == 0 ? "=" : "+") + cell.path + cell.value;
        }
      }
      EXPECT_EQ(seen, expected);
      EXPECT_EQ(table_.Count(partition_, {}, now_seconds_), rows);
    }
  }

  void ExpectFound(const std::string& value, const std::string& expected) {
    ReadSpec spec;
    spec.value_filter = {0, value};
    CollectingSink sink(packs(), true, false);
    table_.Read(partition_, spec, now_seconds_, sink);
    std::string found;
    for (const CollectedRow& row : sink.rows()) {
      found += (found.empty() ? "" : " ") + LetterOf(row.key);
    }
    EXPECT_EQ(found, expected) << "by value '" << value << "'";
  }

  T& table_;
  const storage::PartitionRef partition_;
  const bool item_keys_;
  int64_t now_seconds_ = kScriptStartSeconds;
  uint64_t removed_ = 0;
};

inline bool UsesW(const Script& script) {
  for (const ScriptStep& step : script) {
    for (const ScriptStep::Cell& cell : step.cells) {
      if (cell.column == 1) return true;
    }
    if (UsesW(step.more)) return true;
  }
  return false;
}

inline TableSchema ScriptSchema(bool with_w) {
  TableSchema schema;
  schema.keyspace = "ks";
  schema.name = "script";
  schema.partition_key = {{"p1", CqlType::kBlob}, {"p2", CqlType::kBlob}};
  schema.clustering = {{"c", CqlType::kText, true}};
  schema.regular = {{"v", CqlType::kBlob}};
  if (with_w) schema.regular.push_back({"w", CqlType::kBlob});
  schema.statics = {{"sv", CqlType::kBlob}, {"sw", CqlType::kBlob}};
  schema.indexes = {{"by_v", 0}};
  schema.gc_grace_seconds = kScriptGraceSeconds;
  return schema;
}

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_STORAGE_TABLE_SCRIPT_H_
