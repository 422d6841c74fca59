// Operations: what the operations of DynamoDB's API share, and one function for each of them.
#ifndef LISTSTORE_ENGINE_FACES_DYNAMODB_OPERATION_H_
#define LISTSTORE_ENGINE_FACES_DYNAMODB_OPERATION_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/base/mutex.h"
#include "engine/cql/syntax/unsupported.h"
#include "engine/dynamodb/expressions/condition.h"
#include "engine/dynamodb/expressions/placeholders.h"
#include "engine/dynamodb/expressions/projection.h"
#include "engine/dynamodb/values/error.h"
#include "engine/dynamodb/values/json.h"
#include "engine/faces/dynamodb/item_changes.h"
#include "engine/faces/dynamodb/item_row.h"
#include "engine/faces/dynamodb/statement_runner.h"
#include "engine/faces/dynamodb/table_shape.h"
#include "engine/faces/http/text.h"
#include "engine/model/schema.h"

namespace liststore::dynamodb_face {

using dynamodb::Error;
using dynamodb::ErrorCode;
using dynamodb::ErrorOr;
using dynamodb::Json;
using dynamodb::JsonMember;
using dynamodb::Status;
using http_face::AppendTo;
using http_face::Cat;

// Transactions that were carried out, by their tokens, for ten minutes: one that comes again is not carried
// out again. The oldest go when there are too many, all when the data goes back to what it was. Thread-safe.
class TransactionTokens {
 public:
  enum class Seen : uint8_t {
    kNew,
    kSame,   // it was carried out
    kOther,  // the token was another request's
    kUnderWay
  };

  // With kNew the token is under way until End. `resets`: how often the data went back so far.
  Seen Begin(const std::string& token, uint64_t request, uint64_t now_nanos, uint64_t resets);
  // `is_done`: it was carried out; else the token may come again. `resets`: as at Begin; of a token of before
  // a reset nothing is remembered.
  void End(const std::string& token, bool is_done, uint64_t resets);

 private:
  static constexpr size_t kTokensMax = 10'000;

  struct Entry {
    std::string token;
    uint64_t request = 0;
    uint64_t nanos = 0;
    bool is_under_way = true;
  };
  Mutex mutex_;
  uint64_t resets_ ABSL_GUARDED_BY(mutex_) = 0;
  std::list<Entry> entries_ ABSL_GUARDED_BY(mutex_);  // the oldest first
  std::unordered_map<std::string, std::list<Entry>::iterator> by_token_ ABSL_GUARDED_BY(mutex_);
};

// Tables whose rows are written again for a change of theirs, which takes long: further changes of theirs are
// refused meanwhile, as Amazon refuses those of a table that is UPDATING. Thread-safe.
class UpdatingTables {
 public:
  // Of those that take long: half of the threads for requests that do.
  static constexpr size_t kLongMax = 2;

  // ResourceInUse: the table is one of them.
  Status Begin(const std::string& table);
  // It has more rows than few. LimitExceeded: there are too many of those.
  Status GoOn(const std::string& table);
  void End(const std::string& table);
  // ResourceInUse.
  Status CheckNot(const std::string& table);

 private:
  Mutex mutex_;
  std::map<std::string, bool> tables_ ABSL_GUARDED_BY(mutex_);  // whether it takes long
};

// What the operations of a server share. Thread-safe; constant but for its caches.
struct Operations {
  execute::RequestHandler& statements;
  std::function<std::shared_ptr<const Schema>()> schema;
  std::function<uint64_t()> now_nanos;
  // How often the data went back to what it was: tokens of before count no more.
  std::function<uint64_t()> resets;
  // Counts what is refused by name.
  std::function<void(cql::CqlFeature feature, std::string_view operation)> count_refused;
  // Of the items of one answer, beside what Amazon's limits are: what clients may hold is less in a small
  // process.
  uint64_t answer_bytes_max = UINT64_MAX;
  TableShapes shapes = {};
  TransactionTokens tokens = {};
  // Changes of tables come one behind the other, but for those that take long.
  Mutex schema_mutex = {};
  UpdatingTables updating = {};
};

// One request of an operation, on one thread.
struct OperationCall {
  Operations& server;
  StatementRunner& run;
  Json request;
  std::string_view body;           // of the request, as it came
  std::string_view host;           // as the client calls the server
  std::string error_members = {};  // of an error beside its message: `,"Item":{...}`
};

// A body, or an error. Where `run` has stopped, neither counts.
using OperationFunction = ErrorOr<std::string> (*)(OperationCall& call);
struct Operation {
  std::string_view name;
  OperationFunction function;
  // A loop may begin it: it looks at few rows, most times.
  bool is_short = false;
};
// nullptr: there is none of that name.
const Operation* FindOperation(std::string_view name);
// Of an operation that DynamoDB has and liststore refuses; nullopt: of all others.
std::optional<cql::CqlFeature> RefusedOperation(std::string_view name);

// Of a call whose runner has stopped: nobody sees it.
inline Error Stopped() { return {ErrorCode::kInternalServerError, "stopped"}; }

// The table that is named by the member of that name.
ErrorOr<std::shared_ptr<const TableShape>> TableOf(OperationCall& call, std::string_view name);
ErrorOr<std::shared_ptr<const TableShape>> TableOf(OperationCall& call);
ErrorOr<std::string> TableNameOf(Json name);
// Of a batch: tables are named by names and by ARNs.
Error TableNamedTwice(std::string_view name);

ErrorOr<Item> ItemOfMember(Json parent, std::string_view name);
// A member that is a text of one of these words; nullopt: it is absent. Validation: it is another.
ErrorOr<std::optional<std::string>> WordOf(Json parent, std::string_view name,
                                           std::span<const std::string_view> words);
ErrorOr<std::optional<bool>> BoolOf(Json parent, std::string_view name);
ErrorOr<std::optional<int64_t>> IntegerOf(Json parent, std::string_view name, int64_t least,
                                          int64_t most);

// ConditionExpression with its placeholders, or Expected. `values`: there are other expressions with those.
ErrorOr<dynamodb::Condition> ConditionOf(Json request, dynamodb::Placeholders& placeholders);
ErrorOr<dynamodb::Placeholders> PlaceholdersOf(Json request,
                                               std::initializer_list<std::string_view> expressions,
                                               bool with_values);
// ProjectionExpression, or AttributesToGet.
ErrorOr<dynamodb::Projection> ProjectionOf(Json request, dynamodb::Placeholders& placeholders);

// `{"a":1,"b":2}`, member by member.
class ObjectWriter {
 public:
  // The place of the next member's value.
  std::string& Member(std::string_view name) {
    text_ += text_.empty() ? '{' : ',';
    dynamodb::AppendJsonString(name, text_);
    text_ += ':';
    return text_;
  }
  std::string Take() {
    if (text_.empty()) text_ = "{";
    text_ += '}';
    return std::move(text_);
  }

 private:
  std::string text_;
};

// ConsumedCapacity, as far as ReturnConsumedCapacity asks for it.
class Capacity {
 public:
  enum class Asked : uint8_t {
    kNone,
    kTotal,
    kIndexes
  };
  static ErrorOr<Capacity> Of(Json request);

  bool is_asked() const { return asked_ != Asked::kNone; }
  // Of a table: units in halves, so that they are whole numbers.
  void Add(std::string_view table, uint64_t half_units);
  // Of one table {...}, of several [...].
  void AppendOne(ObjectWriter& out) const;
  void AppendAll(ObjectWriter& out) const;

 private:
  void Append(std::string_view table, uint64_t half_units, std::string& out) const;

  Asked asked_ = Asked::kNone;
  std::vector<std::pair<std::string, uint64_t>> tables_;
};
// Of an item of so many bytes that is read or written.
inline uint64_t HalfUnitsOfRead(size_t bytes, bool is_consistent) {
  return std::max<uint64_t>((bytes + 4095) / 4096, 1) * (is_consistent ? 2 : 1);
}
inline uint64_t HalfUnitsOfWrite(size_t bytes) {
  return std::max<uint64_t>((bytes + 1023) / 1024, 1) * 2;
}

// ---- The operations. table_operations.cc
ErrorOr<std::string> CreateTable(OperationCall& call);
ErrorOr<std::string> DescribeTable(OperationCall& call);
ErrorOr<std::string> DeleteTable(OperationCall& call);
ErrorOr<std::string> ListTables(OperationCall& call);
ErrorOr<std::string> UpdateTable(OperationCall& call);
ErrorOr<std::string> UpdateTimeToLive(OperationCall& call);
ErrorOr<std::string> DescribeTimeToLive(OperationCall& call);
// small_operations.cc
ErrorOr<std::string> ListTagsOfResource(OperationCall& call);
ErrorOr<std::string> TagResource(OperationCall& call);
ErrorOr<std::string> UntagResource(OperationCall& call);
ErrorOr<std::string> DescribeLimits(OperationCall& call);
ErrorOr<std::string> DescribeEndpoints(OperationCall& call);
ErrorOr<std::string> DescribeContinuousBackups(OperationCall& call);
// item_reads.cc
ErrorOr<std::string> GetItem(OperationCall& call);
ErrorOr<std::string> BatchGetItem(OperationCall& call);
ErrorOr<std::string> TransactGetItems(OperationCall& call);
// item_writes.cc
ErrorOr<std::string> PutItem(OperationCall& call);
ErrorOr<std::string> UpdateItem(OperationCall& call);
ErrorOr<std::string> DeleteItem(OperationCall& call);
ErrorOr<std::string> BatchWriteItem(OperationCall& call);
ErrorOr<std::string> TransactWriteItems(OperationCall& call);
// query.cc
ErrorOr<std::string> Query(OperationCall& call);
ErrorOr<std::string> Scan(OperationCall& call);

// Writes an item as it is, if it is there, by that shape. `former`: as of ItemChange. item_writes.cc
Status RewriteItem(OperationCall& call, const std::shared_ptr<const TableShape>& shape, Item key,
                   std::vector<std::string> key_values,
                   const std::shared_ptr<const TableShape>& former = nullptr);

// Carries out what changes a table's comment. With schema_mutex held, or the table one of UpdatingTables.
std::string NotesText(const std::string& table, const TableNotes& notes);
Status WriteNotes(OperationCall& call, const TableShape& shape, const TableNotes& notes);

}  // namespace liststore::dynamodb_face

#endif  // LISTSTORE_ENGINE_FACES_DYNAMODB_OPERATION_H_
