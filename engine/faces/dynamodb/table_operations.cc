// Tables: made, described, changed and dropped, with their indexes and the attribute by which items end.
#include <algorithm>
#include <array>
#include <initializer_list>
#include <map>
#include <new>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "engine/base/status_macros.h"
#include "engine/cql/syntax/quoting.h"
#include "engine/dynamodb/values/item_json.h"
#include "engine/faces/dynamodb/operation.h"
#include "engine/faces/dynamodb/table_writer.h"

namespace liststore::dynamodb_face {
namespace {

using dynamodb::AttributeType;

constexpr size_t kLocalIndexesMax = 5;
constexpr size_t kGlobalIndexesMax = 20;
// Source: DynamoDB's developer guide, "Quotas", secondary indexes and attributes: of an index, and of all of a
// table's; the name of an attribute.
constexpr size_t kIncludedOfIndexMax = 20;
constexpr size_t kIncludedOfTableMax = 100;
constexpr size_t kAttributeNameBytesMax = 255;
constexpr int64_t kTablesMax = 100;
// Rows that are written again at once.
constexpr int32_t kRewrittenAtOnce = 256;

using Definitions = std::map<std::string, AttributeType, std::less<>>;

ErrorOr<Definitions> DefinitionsOf(Json request) {
  Definitions definitions;
  for (const JsonMember member : request.Find("AttributeDefinitions")) {
    const std::string_view name = member.value.Find("AttributeName").text();
    const auto type = dynamodb::AttributeTypeNamed(member.value.Find("AttributeType").text());
    const bool is_key_type =
        type == AttributeType::kS || type == AttributeType::kN || type == AttributeType::kB;
    if (name.empty() || name.size() > 255) {
      return dynamodb::Invalid(
          "1 validation error detected: Value at 'attributeDefinitions.1.member.attributeName' "
          "failed to satisfy constraint: Member must have length greater than or equal to 1 and "
          "less than or equal to 255");
    }
    if (!is_key_type) {
      return dynamodb::Invalid(
          "1 validation error detected: Value at 'attributeDefinitions.1.member.attributeType' "
          "failed to satisfy constraint: Member must satisfy enum value set: [B, N, S]");
    }
    if (name == kItemColumn) {
      return dynamodb::Invalid(
          "liststore keeps items in a column called :item: no attribute of a key may be called so");
    }
    if (!definitions.emplace(name, *type).second) {
      return dynamodb::InvalidParameter("Duplicate AttributeDefinitions");
    }
  }
  return definitions;
}

ErrorOr<KeySchema> KeySchemaOf(Json json, const Definitions& definitions) {
  if (!json.is_array() || json.size() < 1 || json.size() > 2) {
    return dynamodb::Invalid(
        "1 validation error detected: Value at 'keySchema' failed to satisfy constraint: Member "
        "must have length greater than or equal to 1 and less than or equal to 2");
  }
  KeySchema keys;
  size_t number = 0;
  for (const JsonMember member : json) {
    const std::string_view name = member.value.Find("AttributeName").text();
    const std::string_view kind = member.value.Find("KeyType").text();
    if (kind != (number == 0 ? "HASH" : "RANGE")) {
      return dynamodb::Invalid(
          number == 0 ? "Invalid KeySchema: The first KeySchemaElement is not a HASH key type"
                      : "Invalid KeySchema: The second KeySchemaElement is not a RANGE key type");
    }
    const auto at = definitions.find(name);
    if (at == definitions.end()) {
      return dynamodb::InvalidParameter(Cat(
          "Some index key attributes are not defined in AttributeDefinitions. Keys: [", name, "]"));
    }
    if (number == 0) {
      keys.hash = {at->first, at->second};
    } else {
      keys.sort = KeyAttribute{at->first, at->second};
    }
    ++number;
  }
  if (keys.sort && keys.sort->name == keys.hash.name) {
    return dynamodb::Invalid(
        "Both the Hash Key and the Range Key element in the KeySchema have the same name");
  }
  return keys;
}

ErrorOr<Throughput> ThroughputOf(Json json, bool pays_per_request) {
  Throughput throughput;
  if (json.is_absent()) {
    if (pays_per_request) return throughput;
    return dynamodb::InvalidParameter(
        "ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is "
        "PROVISIONED");
  }
  LS_ASSIGN_OR_RETURN(const auto reads, IntegerOf(json, "ReadCapacityUnits", 1, INT64_MAX));
  LS_ASSIGN_OR_RETURN(const auto writes, IntegerOf(json, "WriteCapacityUnits", 1, INT64_MAX));
  throughput.reads = reads.value_or(1);
  throughput.writes = writes.value_or(1);
  if (pays_per_request) {
    return dynamodb::InvalidParameter(
        "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is "
        "PAY_PER_REQUEST");
  }
  return throughput;
}

ErrorOr<IndexShape> IndexOf(Json json, bool is_global, bool pays_per_request,
                            const Definitions& definitions) {
  IndexShape index;
  index.is_global = is_global;
  LS_ASSIGN_OR_RETURN(index.name, TableNameOf(json.Find("IndexName")));
  LS_ASSIGN_OR_RETURN(index.keys, KeySchemaOf(json.Find("KeySchema"), definitions));
  const Json projection = json.Find("Projection");
  static constexpr std::array<std::string_view, 3> kWords = {"ALL", "KEYS_ONLY", "INCLUDE"};
  LS_ASSIGN_OR_RETURN(const auto word, WordOf(projection, "ProjectionType", kWords));
  if (!word) {
    return dynamodb::InvalidParameter("Unknown ProjectionType: null");
  }
  if (word == "KEYS_ONLY") index.projects = IndexShape::Projects::kKeysOnly;
  if (word == "INCLUDE") index.projects = IndexShape::Projects::kInclude;
  const Json included = projection.Find("NonKeyAttributes");
  if (included.size() > kIncludedOfIndexMax) {
    return dynamodb::Invalid(
        "1 validation error detected: Value at 'nonKeyAttributes' failed to satisfy constraint: "
        "Member must have length less than or equal to 20");
  }
  for (const JsonMember member : included) {
    const std::string_view name = member.value.text();
    if (name.empty() || name.size() > kAttributeNameBytesMax) {
      return dynamodb::Invalid(
          "1 validation error detected: Value at 'nonKeyAttributes.1.member' failed to satisfy "
          "constraint: Member must have length greater than or equal to 1 and less than or equal "
          "to 255");
    }
    index.included.emplace_back(name);
  }
  if ((index.projects == IndexShape::Projects::kInclude) == index.included.empty()) {
    return dynamodb::InvalidParameter(
        index.included.empty()
            ? "ProjectionType is INCLUDE, but NonKeyAttributes is not specified"
            : Cat("ProjectionType is ", *word, ", but NonKeyAttributes is specified"));
  }
  if (is_global) {
    const Json throughput = json.Find("ProvisionedThroughput");
    if (!throughput.is_absent() || !pays_per_request) {
      LS_ASSIGN_OR_RETURN(index.throughput, ThroughputOf(throughput, pays_per_request));
    }
  }
  return index;
}

Status CheckIncluded(const std::vector<IndexShape>& indexes) {
  size_t included = 0;
  for (const IndexShape& index : indexes) included += index.included.size();
  if (included <= kIncludedOfTableMax) return {};
  return dynamodb::InvalidParameter(
      Cat("Number of NonKeyAttributes of all indexes exceeds per-table limit of ",
          kIncludedOfTableMax));
}

// Reads all indexes of CreateTable.
Status ReadIndexes(Json request, const KeySchema& keys, const Definitions& definitions,
                   TableNotes& notes) {
  const Json local = request.Find("LocalSecondaryIndexes");
  const Json global = request.Find("GlobalSecondaryIndexes");
  if (local.size() > kLocalIndexesMax || global.size() > kGlobalIndexesMax) {
    return dynamodb::InvalidParameter(
        Cat("Number of ",
            local.size() > kLocalIndexesMax ? "LocalSecondaryIndexes" : "GlobalSecondaryIndexes",
            " exceeds per-table limit of ",
            local.size() > kLocalIndexesMax ? kLocalIndexesMax : kGlobalIndexesMax));
  }
  for (const bool is_global : {false, true}) {
    const Json list = is_global ? global : local;
    if (!list.is_absent() && (!list.is_array() || list.size() == 0)) {
      return dynamodb::InvalidParameter(
          "List of LocalSecondaryIndexes or GlobalSecondaryIndexes is empty");
    }
    for (const JsonMember member : list) {
      LS_ASSIGN_OR_RETURN(IndexShape index,
                          IndexOf(member.value, is_global, notes.pays_per_request, definitions));
      if (!is_global) {
        if (!keys.sort) {
          return dynamodb::InvalidParameter(
              "Table KeySchema does not have a range key, which is required when specifying a "
              "LocalSecondaryIndex");
        }
        if (index.keys.hash != keys.hash) {
          return dynamodb::InvalidParameter(
              Cat("Index KeySchema does not have the same leading hash key as table KeySchema for "
                  "index: ",
                  index.name));
        }
        if (!index.keys.sort) {
          return dynamodb::InvalidParameter(
              Cat("Index KeySchema does not have a range key for index: ", index.name));
        }
      }
      if (std::ranges::find(notes.indexes, index.name, &IndexShape::name) != notes.indexes.end()) {
        return dynamodb::InvalidParameter(Cat("Duplicate index name: ", index.name));
      }
      notes.indexes.push_back(std::move(index));
    }
  }
  return CheckIncluded(notes.indexes);
}

Status CheckDefinitionsAreUsed(const Definitions& definitions, const KeySchema& keys,
                               const std::vector<IndexShape>& indexes) {
  std::vector<std::string_view> used;
  const auto add = [&](const KeySchema& schema) {
    used.push_back(schema.hash.name);
    if (schema.sort) used.push_back(schema.sort->name);
  };
  add(keys);
  for (const IndexShape& index : indexes) add(index.keys);
  const bool all_are_used = std::ranges::all_of(definitions, [&](const auto& definition) {
    return std::ranges::find(used, definition.first) != used.end();
  });
  if (all_are_used) return {};
  return dynamodb::InvalidParameter(
      "Number of attributes in KeySchema does not exactly match number of attributes defined in "
      "AttributeDefinitions");
}

Status ReadBilling(Json request, TableNotes& notes) {
  static constexpr std::array<std::string_view, 2> kModes = {"PROVISIONED", "PAY_PER_REQUEST"};
  LS_ASSIGN_OR_RETURN(const auto mode, WordOf(request, "BillingMode", kModes));
  notes.pays_per_request = mode == "PAY_PER_REQUEST";
  LS_ASSIGN_OR_RETURN(notes.throughput,
                      ThroughputOf(request.Find("ProvisionedThroughput"), notes.pays_per_request));
  return {};
}

Status CheckNoStreams(OperationCall& call) {
  const Json stream = call.request.Find("StreamSpecification");
  if (!stream.Find("StreamEnabled").is_true()) return {};
  call.server.count_refused(cql::CqlFeature::kDynamodbStreams, "StreamSpecification");
  return dynamodb::Invalid(Cat("liststore does not support streams of DynamoDB; instead: ",
                               cql::FactsOf(cql::CqlFeature::kDynamodbStreams).instead, " [",
                               cql::FactsOf(cql::CqlFeature::kDynamodbStreams).code, "]"));
}

// Runs a text; an error of CQL's is the server's.
Status RunDefinition(OperationCall& call, const std::string& text) {
  std::optional<Error> error;
  if (!call.run.RunText(text, error)) return Stopped();
  if (error) return *std::move(error);
  return {};
}

std::string QuotedKeyColumn(const KeyAttribute& attribute) {
  return cql::AlwaysQuoteIdentifier(attribute.name);
}

// The attributes of keys of indexes that are no keys of the table.
std::vector<KeyAttribute> IndexedAttributes(const KeySchema& keys,
                                            const std::vector<IndexShape>& indexes) {
  std::vector<KeyAttribute> attributes;
  const auto add = [&](const KeyAttribute& attribute) {
    if (attribute == keys.hash || (keys.sort && attribute == *keys.sort)) return;
    if (std::ranges::find(attributes, attribute) != attributes.end()) return;
    attributes.push_back(attribute);
  };
  for (const IndexShape& index : indexes) {
    add(index.keys.hash);
    if (index.keys.sort) add(*index.keys.sort);
  }
  return attributes;
}

std::string CreateTableText(const std::string& name, const KeySchema& keys,
                            const TableNotes& notes) {
  std::string text = Cat("CREATE TABLE ", QualifiedName(name), " (", QuotedKeyColumn(keys.hash),
                         " ", ColumnTypeOf(keys.hash.type), ", ");
  if (keys.sort) {
    AppendTo(text, QuotedKeyColumn(*keys.sort), " ", ColumnTypeOf(keys.sort->type), ", ");
  }
  for (const KeyAttribute& attribute : IndexedAttributes(keys, notes.indexes)) {
    AppendTo(text, QuotedKeyColumn(attribute), " ", ColumnTypeOf(attribute.type), ", ");
  }
  AppendTo(text, "\":item\" blob, PRIMARY KEY (", QuotedKeyColumn(keys.hash));
  if (keys.sort) AppendTo(text, ", ", QuotedKeyColumn(*keys.sort));
  AppendTo(text, ")) WITH comment = ", cql::QuoteString(notes.ToComment()));
  return text;
}

std::string CreateViewText(const std::string& table, const KeySchema& keys,
                           const IndexShape& index) {
  std::vector<KeyAttribute> clustering;
  if (index.keys.sort) clustering.push_back(*index.keys.sort);
  const auto add = [&](const KeyAttribute& attribute) {
    if (attribute == index.keys.hash || (index.keys.sort && attribute == *index.keys.sort)) return;
    clustering.push_back(attribute);
  };
  add(keys.hash);
  if (keys.sort) add(*keys.sort);
  std::string where = Cat(QuotedKeyColumn(index.keys.hash), " IS NOT NULL");
  std::string key = Cat("(", QuotedKeyColumn(index.keys.hash), ")");
  for (const KeyAttribute& attribute : clustering) {
    AppendTo(where, " AND ", QuotedKeyColumn(attribute), " IS NOT NULL");
    AppendTo(key, ", ", QuotedKeyColumn(attribute));
  }
  std::string columns = QuotedKeyColumn(index.keys.hash);
  for (const KeyAttribute& attribute : clustering) {
    AppendTo(columns, ", ", QuotedKeyColumn(attribute));
  }
  return Cat("CREATE MATERIALIZED VIEW ", QualifiedName(table, &index), " AS SELECT ", columns,
             ", \":item\" FROM ", QualifiedName(table), " WHERE ", where, " PRIMARY KEY (", key,
             ")");
}

std::string DropViewText(const std::string& table, const IndexShape& index) {
  return Cat("DROP MATERIALIZED VIEW IF EXISTS ", QualifiedName(table, &index));
}

Status DropAll(OperationCall& call, const std::string& name,
               const std::vector<IndexShape>& indexes) {
  for (const IndexShape& index : indexes) {
    LS_RETURN_IF_ERROR(RunDefinition(call, DropViewText(name, index)));
  }
  return RunDefinition(call, Cat("DROP TABLE IF EXISTS ", QualifiedName(name)));
}

// Writes every item again by the shape as it is now: with the end that its attribute says, and the columns of
// its indexes. Items that come and go meanwhile are written by it anyway. `former`: as of ItemChange.
Status RewriteItems(OperationCall& call, const std::shared_ptr<const TableShape>& shape,
                    const std::shared_ptr<const TableShape>& former = nullptr) {
  BoundStatement page;
  page.text = &shape->keys_of_all;
  page.page_size = kRewrittenAtOnce;
  const std::vector<KeyAttribute> key = shape->KeyAttributesOf(nullptr);
  std::vector<std::optional<std::string_view>> values;
  while (true) {
    if (!call.run.Run({&page, 1})) return Stopped();
    if (page.error) return *std::move(page.error);
    AnsweredRows rows(page.frame);
    while (rows.rows_left() > 0) {
      rows.Next(values);
      Item of_row;
      std::vector<std::string> key_values;
      bool is_key = true;
      for (size_t i = 0; i < key.size(); ++i) {
        key_values.emplace_back(values[i].value_or(std::string_view()));
        auto value = FromCqlValue(key[i].type, key_values.back());
        is_key &= value.has_value();
        if (value) of_row.Set(key[i].name, *std::move(value));
      }
      // Written by CQL, and no key of DynamoDB's.
      if (!is_key) continue;
      LS_RETURN_IF_ERROR(
          RewriteItem(call, shape, std::move(of_row), std::move(key_values), former));
    }
    if (rows.paging_state().empty()) return {};
    LS_RETURN_IF_ERROR(call.server.updating.GoOn(shape->name));
    page.paging_state = rows.paging_state();
  }
}

// Of a change that may take long: other tables are changed meanwhile, and this one is not.
Status BeginUpdate(OperationCall& call, const std::string& name) {
  const MutexLock lock(call.server.schema_mutex);
  return call.server.updating.Begin(name);
}

std::shared_ptr<const TableShape> Current(OperationCall& call, std::string_view name) {
  return call.server.shapes.Find(*call.server.schema(), name);
}

}  // namespace

ErrorOr<std::string> CreateTable(OperationCall& call) {
  const MutexLock lock(call.server.schema_mutex);
  LS_ASSIGN_OR_RETURN(const std::string name, TableNameOf(call.request.Find("TableName")));
  LS_ASSIGN_OR_RETURN(const Definitions definitions, DefinitionsOf(call.request));
  LS_ASSIGN_OR_RETURN(const KeySchema keys,
                      KeySchemaOf(call.request.Find("KeySchema"), definitions));
  TableNotes notes;
  LS_RETURN_IF_ERROR(ReadBilling(call.request, notes));
  LS_RETURN_IF_ERROR(ReadIndexes(call.request, keys, definitions, notes));
  LS_RETURN_IF_ERROR(CheckDefinitionsAreUsed(definitions, keys, notes.indexes));
  LS_RETURN_IF_ERROR(CheckNoStreams(call));
  LS_RETURN_IF_ERROR(AddTags(call.request.Find("Tags"), notes.tags));
  static constexpr std::array<std::string_view, 2> kClasses = {"STANDARD",
                                                               "STANDARD_INFREQUENT_ACCESS"};
  LS_ASSIGN_OR_RETURN(const auto table_class, WordOf(call.request, "TableClass", kClasses));
  notes.table_class = table_class.value_or("");
  LS_ASSIGN_OR_RETURN(const auto is_protected, BoolOf(call.request, "DeletionProtectionEnabled"));
  notes.is_protected = is_protected.value_or(false);
  notes.created_millis = static_cast<int64_t>(call.server.now_nanos() / 1'000'000);
  if (call.server.schema()->FindTable(kDynamodbKeyspace, name) != nullptr) {
    return Error{ErrorCode::kResourceInUse, Cat("Table already exists: ", name)};
  }
  // Asks for permissions on all keyspaces, which who makes tables in this one need not have.
  if (call.server.schema()->FindKeyspace(kDynamodbKeyspace) == nullptr) {
    LS_RETURN_IF_ERROR(RunDefinition(
        call, Cat("CREATE KEYSPACE IF NOT EXISTS ", kDynamodbKeyspace,
                  " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")));
  }
  LS_RETURN_IF_ERROR(RunDefinition(call, CreateTableText(name, keys, notes)));
  for (const IndexShape& index : notes.indexes) {
    Status status = RunDefinition(call, CreateViewText(name, keys, index));
    if (status.ok()) continue;
    if (call.run.stop() == StatementRunner::Stop::kNo) {
      // All of it or nothing; what is wrong is the first error.
      [[maybe_unused]] const Status dropped = DropAll(call, name, notes.indexes);
    }
    return status.TakeError();
  }
  const std::shared_ptr<const TableShape> shape = Current(call, name);
  if (shape == nullptr) return Error{ErrorCode::kInternalServerError, "The table has gone again"};
  return Cat("{\"TableDescription\":", DescriptionOf(*shape), "}");
}

ErrorOr<std::string> DescribeTable(OperationCall& call) {
  LS_ASSIGN_OR_RETURN(const std::shared_ptr<const TableShape> shape, TableOf(call));
  return Cat("{\"Table\":", DescriptionOf(*shape), "}");
}

ErrorOr<std::string> DeleteTable(OperationCall& call) {
  const MutexLock lock(call.server.schema_mutex);
  LS_ASSIGN_OR_RETURN(const std::shared_ptr<const TableShape> shape, TableOf(call));
  LS_RETURN_IF_ERROR(call.server.updating.CheckNot(shape->name));
  if (shape->notes.is_protected) {
    return dynamodb::Invalid(
        Cat("Resource cannot be deleted as it is currently protected against deletion. Disable "
            "deletion protection first."));
  }
  LS_RETURN_IF_ERROR(DropAll(call, shape->name, shape->notes.indexes));
  // Forgets it.
  [[maybe_unused]] const auto gone = Current(call, shape->name);
  return Cat("{\"TableDescription\":", DescriptionOf(*shape, "DELETING"), "}");
}

ErrorOr<std::string> ListTables(OperationCall& call) {
  LS_ASSIGN_OR_RETURN(const auto limit, IntegerOf(call.request, "Limit", 1, kTablesMax));
  const std::string_view start = call.request.Find("ExclusiveStartTableName").text();
  const std::shared_ptr<const Schema> schema = call.server.schema();
  const KeyspaceDefinition* const keyspace = schema->FindKeyspace(kDynamodbKeyspace);
  std::string names;
  std::string last;
  int64_t count = 0;
  if (keyspace != nullptr) {
    for (auto at = keyspace->tables.upper_bound(start); at != keyspace->tables.end(); ++at) {
      if (call.server.shapes.Find(*schema, at->first) == nullptr) continue;
      if (count == limit.value_or(kTablesMax)) {
        return Cat("{\"TableNames\":[", names, "],\"LastEvaluatedTableName\":\"", last, "\"}");
      }
      AppendTo(names, count == 0 ? "\"" : ",\"", at->first, "\"");
      last = at->first;
      ++count;
    }
  }
  return Cat("{\"TableNames\":[", names, "]}");
}

namespace {

// Runs texts that take back what has failed, whatever became of the client meanwhile; what fails of them fails.
void TakeBack(OperationCall& call, std::initializer_list<std::string> texts) {
  for (const std::string& text : texts) {
    std::optional<Error> error;
    [[maybe_unused]] const bool goes_on = call.run.RunText(text, error);
  }
}

// As `notes` are again: what has failed half-way can be asked for again.
class NotesOnFailure {
 public:
  // `index`: nullptr, or one that is made with it.
  NotesOnFailure(OperationCall& call, const TableShape& shape, const IndexShape* index)
      : call_(call),
        notes_(NotesText(shape.name, shape.notes)),
        drop_(index == nullptr ? std::string() : DropViewText(shape.name, *index)) {}
  NotesOnFailure(const NotesOnFailure&) = delete;
  NotesOnFailure& operator=(const NotesOnFailure&) = delete;
  ~NotesOnFailure() {
    if (is_done_) return;
    try {
      if (!drop_.empty()) TakeBack(call_, {drop_});
      TakeBack(call_, {notes_});
    } catch (const std::bad_alloc&) {
      // They stay; an index without its view is none.
    }
  }

  void Done() { is_done_ = true; }

 private:
  OperationCall& call_;
  const std::string notes_;
  const std::string drop_;
  bool is_done_ = false;
};

// One that has failed half-way, and whose notes could not be taken back, has no view.
bool IsThere(OperationCall& call, const TableShape& shape, const IndexShape& index) {
  return call.server.schema()->FindTable(kDynamodbKeyspace, Cat(shape.name, ":", index.name)) !=
         nullptr;
}

// The types of all attributes that have columns, over which definitions agree with them.
Status AddColumnTypes(const TableShape& shape, Definitions& definitions) {
  for (const ColumnDefinition& column : shape.table->columns) {
    if (column.name == kItemColumn) continue;
    const std::optional<AttributeType> type = TypeOfColumn(column);
    const auto at = definitions.find(column.name);
    if (at == definitions.end()) {
      if (type) definitions.emplace(column.name, *type);
    } else if (at->second != type) {
      return dynamodb::Invalid(Cat("One or more parameter values were invalid: the attribute ",
                                   column.name, " is defined as ", dynamodb::NameOf(at->second),
                                   ", and is of type ", type ? dynamodb::NameOf(*type) : "CQL's",
                                   " in the table"));
    }
  }
  return {};
}

// Reads the changes of indexes into `notes`, in order; nothing is carried out. `created`, `deleted`: their names.
Status ReadIndexUpdates(OperationCall& call, const TableShape& shape, TableNotes& notes,
                        std::vector<IndexShape>& created, std::vector<IndexShape>& deleted) {
  LS_ASSIGN_OR_RETURN(Definitions definitions, DefinitionsOf(call.request));
  LS_RETURN_IF_ERROR(AddColumnTypes(shape, definitions));
  const auto find = [&](std::string_view name) {
    return std::ranges::find(notes.indexes, name, &IndexShape::name);
  };
  const auto not_found = [](std::string_view name) {
    return Error{ErrorCode::kResourceNotFound,
                 Cat("Requested resource not found: Index: ", name, " not found")};
  };
  for (const JsonMember member : call.request.Find("GlobalSecondaryIndexUpdates")) {
    const Json update = member.value.Find("Update");
    const Json create = member.value.Find("Create");
    const Json deletion = member.value.Find("Delete");
    if (update.is_object()) {
      const auto at = find(update.Find("IndexName").text());
      if (at == notes.indexes.end()) return not_found(update.Find("IndexName").text());
      LS_ASSIGN_OR_RETURN(at->throughput, ThroughputOf(update.Find("ProvisionedThroughput"),
                                                       notes.pays_per_request));
    }
    if (create.is_object()) {
      LS_ASSIGN_OR_RETURN(IndexShape index,
                          IndexOf(create, /*is_global=*/true, notes.pays_per_request, definitions));
      const auto at = find(index.name);
      if (at != notes.indexes.end()) {
        const bool is_new =
            std::ranges::find(created, index.name, &IndexShape::name) != created.end();
        if (is_new || IsThere(call, shape, *at)) {
          return dynamodb::Invalid(
              Cat("Attempting to create an index which already exists: ", index.name));
        }
        notes.indexes.erase(at);
      }
      if (notes.indexes.size() >= kGlobalIndexesMax + kLocalIndexesMax) {
        return Error{ErrorCode::kLimitExceeded, "Subscriber limit exceeded: too many indexes"};
      }
      notes.indexes.push_back(index);
      created.push_back(std::move(index));
    }
    if (deletion.is_object()) {
      const auto at = find(deletion.Find("IndexName").text());
      const bool is_old = std::ranges::find(created, deletion.Find("IndexName").text(),
                                            &IndexShape::name) == created.end();
      if (at == notes.indexes.end() || !at->is_global || !is_old) {
        return not_found(deletion.Find("IndexName").text());
      }
      deleted.push_back(*at);
      notes.indexes.erase(at);
    }
  }
  return CheckIncluded(notes.indexes);
}

Status CreateIndex(OperationCall& call, const IndexShape& index, const std::string& name) {
  std::shared_ptr<const TableShape> shape = Current(call, name);
  if (shape == nullptr) return Error{ErrorCode::kInternalServerError, "The table has gone"};
  NotesOnFailure old(call, *shape, &index);
  for (const KeyAttribute& attribute : IndexedAttributes(shape->keys, {index})) {
    const ColumnDefinition* const column = shape->table->FindColumn(attribute.name);
    if (column != nullptr) continue;
    LS_RETURN_IF_ERROR(
        RunDefinition(call, Cat("ALTER TABLE ", QualifiedName(name), " ADD ",
                                QuotedKeyColumn(attribute), " ", ColumnTypeOf(attribute.type))));
  }
  TableNotes notes = shape->notes;
  std::erase_if(notes.indexes, [&](const IndexShape& other) { return other.name == index.name; });
  notes.indexes.push_back(index);
  LS_RETURN_IF_ERROR(WriteNotes(call, *shape, notes));
  shape = Current(call, name);
  if (shape == nullptr) return Error{ErrorCode::kInternalServerError, "The table has gone"};
  LS_RETURN_IF_ERROR(RewriteItems(call, shape));
  LS_RETURN_IF_ERROR(RunDefinition(call, CreateViewText(name, shape->keys, index)));
  old.Done();
  return {};
}

// Its columns stay, and are written as before: an index of theirs may come again.
Status DeleteIndex(OperationCall& call, const IndexShape& index, const std::string& name) {
  const std::shared_ptr<const TableShape> shape = Current(call, name);
  if (shape == nullptr) return Error{ErrorCode::kInternalServerError, "The table has gone"};
  // Without its view, and with its notes, it can be deleted again.
  LS_RETURN_IF_ERROR(RunDefinition(call, DropViewText(name, index)));
  TableNotes notes = shape->notes;
  std::erase_if(notes.indexes, [&](const IndexShape& other) { return other.name == index.name; });
  return WriteNotes(call, *shape, notes);
}

}  // namespace

ErrorOr<std::string> UpdateTable(OperationCall& call) {
  LS_ASSIGN_OR_RETURN(std::shared_ptr<const TableShape> shape, TableOf(call));
  const std::string name = shape->name;
  LS_RETURN_IF_ERROR(BeginUpdate(call, name));
  const absl::Cleanup end = [&] { call.server.updating.End(name); };
  // As nobody else changes it now.
  LS_ASSIGN_OR_RETURN(shape, TableOf(call));
  LS_RETURN_IF_ERROR(CheckNoStreams(call));
  const bool asks_for_something = std::ranges::any_of(
      std::array<std::string_view, 8>{"BillingMode", "ProvisionedThroughput",
                                      "GlobalSecondaryIndexUpdates", "DeletionProtectionEnabled",
                                      "TableClass", "StreamSpecification", "SSESpecification",
                                      "ReplicaUpdates"},
      [&](std::string_view member) { return !call.request.Find(member).is_absent(); });
  if (!asks_for_something) {
    return dynamodb::Invalid(
        "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, "
        "GlobalSecondaryIndexUpdates or SSESpecification or ReplicaUpdates is required");
  }
  if (!call.request.Find("ReplicaUpdates").is_absent()) {
    call.server.count_refused(cql::CqlFeature::kGlobalTables, "ReplicaUpdates");
    return dynamodb::Invalid(
        "liststore does not support global tables and replicas of DynamoDB "
        "[LS-0049]");
  }
  TableNotes notes = shape->notes;
  static constexpr std::array<std::string_view, 2> kModes = {"PROVISIONED", "PAY_PER_REQUEST"};
  LS_ASSIGN_OR_RETURN(const auto mode, WordOf(call.request, "BillingMode", kModes));
  if (mode) notes.pays_per_request = mode == "PAY_PER_REQUEST";
  if (notes.pays_per_request) notes.throughput = {};
  const Json throughput = call.request.Find("ProvisionedThroughput");
  if (!throughput.is_absent()) {
    LS_ASSIGN_OR_RETURN(notes.throughput, ThroughputOf(throughput, notes.pays_per_request));
  }
  LS_ASSIGN_OR_RETURN(const auto is_protected, BoolOf(call.request, "DeletionProtectionEnabled"));
  notes.is_protected = is_protected.value_or(notes.is_protected);
  static constexpr std::array<std::string_view, 2> kClasses = {"STANDARD",
                                                               "STANDARD_INFREQUENT_ACCESS"};
  LS_ASSIGN_OR_RETURN(const auto table_class, WordOf(call.request, "TableClass", kClasses));
  if (table_class) notes.table_class = *table_class;
  std::vector<IndexShape> created;
  std::vector<IndexShape> deleted;
  TableNotes after = notes;
  LS_RETURN_IF_ERROR(ReadIndexUpdates(call, *shape, after, created, deleted));
  // What is there stays there until it is its turn, but for what is said of it.
  for (IndexShape& index : notes.indexes) {
    const auto at = std::ranges::find(after.indexes, index.name, &IndexShape::name);
    if (at != after.indexes.end()) index.throughput = at->throughput;
  }
  if (notes.ToComment() != shape->notes.ToComment()) {
    LS_RETURN_IF_ERROR(WriteNotes(call, *shape, notes));
  }
  for (const IndexShape& index : deleted) LS_RETURN_IF_ERROR(DeleteIndex(call, index, name));
  for (const IndexShape& index : created) LS_RETURN_IF_ERROR(CreateIndex(call, index, name));
  shape = Current(call, name);
  if (shape == nullptr) return Error{ErrorCode::kInternalServerError, "The table has gone"};
  return Cat("{\"TableDescription\":", DescriptionOf(*shape), "}");
}

ErrorOr<std::string> UpdateTimeToLive(OperationCall& call) {
  LS_ASSIGN_OR_RETURN(std::shared_ptr<const TableShape> shape, TableOf(call));
  const std::string name = shape->name;
  LS_RETURN_IF_ERROR(BeginUpdate(call, name));
  const absl::Cleanup end = [&] { call.server.updating.End(name); };
  LS_ASSIGN_OR_RETURN(shape, TableOf(call));
  const Json specification = call.request.Find("TimeToLiveSpecification");
  const std::string attribute(specification.Find("AttributeName").text());
  LS_ASSIGN_OR_RETURN(const auto enabled, BoolOf(specification, "Enabled"));
  if (!enabled || attribute.empty() || attribute.size() > 255) {
    return dynamodb::Invalid(
        "TimeToLiveSpecification has to have Enabled, and an AttributeName of 1 to 255 characters");
  }
  TableNotes notes = shape->notes;
  if (*enabled && !notes.ttl_attribute.empty()) {
    return dynamodb::Invalid(notes.ttl_attribute == attribute
                                 ? "TimeToLive is already enabled"
                                 : Cat("TimeToLive is active on a different AttributeName: current "
                                       "AttributeName is ",
                                       notes.ttl_attribute));
  }
  if (!*enabled && notes.ttl_attribute.empty()) {
    return dynamodb::Invalid("TimeToLive is already disabled");
  }
  if (!*enabled && notes.ttl_attribute != attribute) {
    return dynamodb::Invalid(
        Cat("TimeToLive is active on a different AttributeName: current AttributeName is ",
            notes.ttl_attribute));
  }
  notes.ttl_attribute = *enabled ? attribute : "";
  NotesOnFailure old(call, *shape, nullptr);
  LS_RETURN_IF_ERROR(WriteNotes(call, *shape, notes));
  const std::shared_ptr<const TableShape> former = std::exchange(shape, Current(call, shape->name));
  if (shape == nullptr) return Error{ErrorCode::kInternalServerError, "The table has gone"};
  LS_RETURN_IF_ERROR(RewriteItems(call, shape, former));
  old.Done();
  std::string quoted;
  dynamodb::AppendJsonString(attribute, quoted);
  return Cat("{\"TimeToLiveSpecification\":{\"Enabled\":", *enabled ? "true" : "false",
             ",\"AttributeName\":", quoted, "}}");
}

ErrorOr<std::string> DescribeTimeToLive(OperationCall& call) {
  LS_ASSIGN_OR_RETURN(const std::shared_ptr<const TableShape> shape, TableOf(call));
  if (shape->notes.ttl_attribute.empty()) {
    return std::string(R"({"TimeToLiveDescription":{"TimeToLiveStatus":"DISABLED"}})");
  }
  std::string quoted;
  dynamodb::AppendJsonString(shape->notes.ttl_attribute, quoted);
  return Cat(R"({"TimeToLiveDescription":{"TimeToLiveStatus":"ENABLED","AttributeName":)", quoted,
             "}}");
}

}  // namespace liststore::dynamodb_face
