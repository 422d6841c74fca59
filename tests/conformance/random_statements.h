// Random schemas and statements, each with what it means: a write knows how to do the same to the
// model, a read computes its result from it.
#ifndef LISTSTORE_TESTS_CONFORMANCE_RANDOM_STATEMENTS_H_
#define LISTSTORE_TESTS_CONFORMANCE_RANDOM_STATEMENTS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/random.h"
#include "tests/conformance/cql_session.h"
#include "tests/conformance/random_types.h"
#include "tests/conformance/table_model.h"
#include "tests/conformance/value_pool.h"

namespace liststore::testing {

ModelSchema RandomSchema(Random& random, std::string table, const ModelUserTypes& types);
// A regular or static one; collections and user types are among them.
ModelColumn RandomValueColumn(Random& random, std::string name, const ModelUserTypes& types);
// One that a table may have; nullopt: its column, which is chosen too, may not have one.
std::optional<ModelIndex> RandomIndex(Random& random, const ModelSchema& schema);
// A table of liststore keeps deletions for later writes only where a client's timestamp has been
// seen (docs/decisions/0004-effective-grace.md): for each partition one that does nothing.
std::vector<CqlStatement> DeletionsOfNothing(const ModelSchema& schema);

// A statement that grows: as it is sent, with values as literals or bound, and as it is shown, with
// literals alone, so that it can be run by hand.
class StatementText {
 public:
  explicit StatementText(Random& random)
      : random_(random), style_(static_cast<Style>(random.Below(3))) {}

  StatementText& operator<<(std::string_view text) {
    sent_.text += text;
    shown_ += text;
    return *this;
  }
  void AddValue(const PoolValue& value);
  void AddNull();
  void AddNumber(int64_t value, size_t bytes) {
    AddValue({BytesOfInt(value, bytes), std::to_string(value)});
  }
  // A value that the server is to take for absent: what is shown leaves `around` out.
  void AddUnset(std::string_view around);
  // (a, b) or ?; true: the latter.
  bool AddList(const std::vector<PoolValue>& values);
  // The same of a tuple, and of a list of tuples.
  bool AddTuple(const std::vector<PoolValue>& values);
  bool AddTuples(const std::vector<std::vector<PoolValue>>& tuples);
  // Into one of the two alone.
  void Show(std::string_view text) { shown_ += text; }
  void Send(std::string_view text) { sent_.text += text; }

  // From now on values may be JSON that Cassandra does not take.
  void TakeScyllaJson() { has_scylla_json_ = true; }
  // One that makes the value.
  const std::string& ChooseJson(const PoolValue& value);

  // The text is of a kind that a test is to have made.
  void CountAs(std::string_view kind) { kinds_.push_back(kind); }

  CqlStatement Sent();
  const std::string& shown() const { return shown_; }
  const std::vector<std::string_view>& kinds() const { return kinds_; }

 private:
  // As a function of its bytes, which are a literal or bound.
  void AddCall(const PoolValue& value);
  // A timestamp or date as that of a timeuuid of it.
  void AddTimeCall(const PoolValue& value);
  // fromJson('...'), or of a text that is bound.
  void AddFromJson(const PoolValue& value);

  enum class Style : uint8_t {
    kLiterals,
    kBound,
    kMixed
  };
  bool Binds() { return style_ == Style::kBound || (style_ == Style::kMixed && random_.OneIn(2)); }

  Random& random_;
  Style style_;
  bool has_scylla_json_ = false;
  CqlStatement sent_;
  std::string shown_;
  std::vector<std::string_view> kinds_;
};

// Kinds that a test is to have made.
inline constexpr std::string_view kWholeNumberInJson = "JSON: a whole number with a point";
inline constexpr std::string_view kShortTupleInJson = "JSON: a tuple of fewer values";
inline constexpr std::string_view kJsonOfElement = "JSON: of an element or a field";
inline constexpr std::string_view kOrderBesideIn = "ORDER BY beside IN";
inline constexpr std::string_view kOrderBesideFilter = "ORDER BY beside IN and a filter";
inline constexpr std::string_view kOrderBesideInOfOne = "ORDER BY beside IN of one value";
inline constexpr std::string_view kLimitOfIn = "LIMIT of IN";
inline constexpr std::string_view kSeveralOfPartition = "p = x AND p IN (x, y)";
inline constexpr std::string_view kSeveralOfClustering = "c = x AND c IN (x, y)";
inline constexpr std::string_view kSeveralOfIndexed = "v = x AND v = y by an index";
inline constexpr std::string_view kSliceBesideEquality = "c = x AND c > y";
inline constexpr std::string_view kSlicesOfOneColumn = "c > x AND c >= y";

struct RandomWrite {
  CqlStatement sent;
  std::string shown;
  // Does it to the model; the timestamp is for where the statement has none.
  std::function<void(int64_t timestamp, int64_t now_seconds)> apply;
  std::vector<std::string_view> kinds = {};
};

// Where timestamps of writes come from.
struct WriteTimes {
  bool may_say_timestamp = true;
  bool may_read = true;        // the statement is alone: what it writes may depend on what is there
  bool has_short_ttls = true;  // of less than a quarter of an hour
  bool json_is_of_statics = false;  // INSERT JSON writes static columns, too
  bool has_scylla_json = false;     // JSON that Cassandra does not take
  int64_t now_micros = 0;
  int64_t start_micros = 0;
  // The message's or the batch's, which what is shown spells out.
  std::optional<int64_t> of_message;
  // By which lists have what is appended in their order; nullopt: its timestamp.
  std::optional<int64_t> list_micros;
};

// `model` outlives the result.
RandomWrite MakeRandomWrite(Random& random, TableModel& model, const WriteTimes& times);
int64_t RandomTimestamp(Random& random, const WriteTimes& times);

// Rules that servers do not share: where nothing is said, ScyllaDB's.
struct AnswerRules {
  // Partitions of IN come by the values of their keys as the table has these: in a view from above
  // where they descend in its table.
  bool in_descends = false;
  // ORDER BY beside IN merges what filters pass, too, and rows that it finds equal stay as they are.
  bool in_order_is_stable = false;
  bool bound_empties_are_null =
      false;                         // in a list for IN ?, values of no bytes that have no literal
  bool bound_empties_spoil = false;  // and a list with one of them finds nothing at all
  bool bound_empties_end = false;    // or nothing by the values behind it
  bool empty_keys_first = false;     // the token of no bytes, a key in a view, is the smallest one
  bool json_of_java = false;         // forms of values in JSON
  // Of the partitions without rows that the conditions hold of: bit i, the i-th is not found.
  uint32_t partitions_missed = 0;
};

// When the server may have run a statement, both ends included.
struct TimeWindow {
  int64_t from_micros = 0;
  int64_t to_micros = 0;
};

struct RandomRead {
  CqlStatement sent;
  std::string shown;
  bool may_be_paged = true;
  std::function<std::vector<ResultRow>(int64_t now_seconds, const AnswerRules& rules)> expected;
  // Of what was answered, puts in place of values that depend on the instant, or on chance, what
  // `expected` has for all that are right.
  std::function<void(std::vector<ResultRow>& found, const TimeWindow& window)> make_comparable;
  std::vector<std::string_view> kinds = {};
};

struct ReadOptions {
  bool with_write_times = true;   // may ask for WRITETIME
  bool has_own_functions = true;  // those that liststore alone has
  bool has_scylla_rules = true;   // may say what Cassandra refuses
};

RandomRead MakeRandomRead(Random& random, const TableModel& model, const ReadOptions& options);
// All that is there, with its times.
RandomRead ReadEverything(Random& random, const TableModel& model, const ReadOptions& options);

// ---- WHERE, for both

// Partition keys in the order of their values, which is that of IN; those of a column that compare
// as equal by their bytes. Source: ScyllaDB cql3/restrictions/statement_restrictions.cc,
// partition_ranges_from_singles.
int CompareKeys(const ModelSchema& schema, const Values& a, const Values& b);

struct PartitionChoice {
  std::vector<Values> keys;  // none twice, in their order
  bool is_in = false;        // said with IN, but for one of a list of one, which is `=`
  bool has_in_of_one = false;
};
// "p0 = x AND p1 IN (y, z)".
PartitionChoice AddPartitionWhere(Random& random, const ModelSchema& schema, StatementText& text);

enum class ClusteringUse : uint8_t {
  kWholeKeys,  // every column equals something
  kDeletion,   // any that a DELETE takes
  kRead
};
// " AND c0 = x AND c1 > y", maybe nothing; what it selects. `key`: the keys that kWholeKeys names.
// `schema` outlives the result.
TableModel::Predicate AddClusteringWhere(Random& random, const ModelSchema& schema,
                                         ClusteringUse use, std::string_view before,
                                         StatementText& text, std::vector<Values>* keys = nullptr);
const PoolValue& RandomPoolValue(Random& random, const ModelColumn& column);

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_CONFORMANCE_RANDOM_STATEMENTS_H_
