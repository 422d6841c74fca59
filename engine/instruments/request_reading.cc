#include "engine/instruments/request_reading.h"

#include <algorithm>
#include <set>
#include <variant>

#include "engine/base/check.h"
#include "engine/base/utf8.h"
#include "engine/cql/planner/planner.h"
#include "engine/cql/syntax/quoting.h"
#include "engine/cql/values/partition_key_text.h"
#include "engine/cql/values/print_value.h"
#include "engine/model/partition_key.h"

namespace liststore::instruments {
namespace {

bool IsText(const DataType& type) {
  return type.is_native() && (type.native() == CqlType::kText || type.native() == CqlType::kAscii);
}

// `type` is nullptr when it is not known.
std::string Literal(const DataType* type, const RecordedValue& value) {
  if (value.value.is_unset()) return "unset";
  if (value.value.is_null()) return "null";
  const std::string_view bytes = value.value.bytes;
  if (value.is_cut) {
    const bool readable = type != nullptr && IsText(*type);
    return (readable ? cql::QuoteString(bytes.substr(0, ValidUtf8Bytes(bytes)))
                     : cql::PrintBlob(bytes)) +
           "...";
  }
  if (type == nullptr || !type->IsValid(bytes)) return cql::PrintBlob(bytes);
  return cql::PrintValue(*type, bytes);
}

// The value of the i-th of a plan's variables; nullptr: it was not sent.
const RecordedValue* ValueOf(const std::vector<RecordedValue>& values, const cql::Plan& plan,
                             size_t i) {
  if (values.empty()) return nullptr;
  if (values[0].name.empty()) return i < values.size() ? &values[i] : nullptr;
  const auto at = std::ranges::find(values, plan.variables[i].name, &RecordedValue::name);
  return at == values.end() ? nullptr : &*at;
}

void ReadValues(const std::vector<RecordedValue>& values, StatementReading& reading) {
  if (reading.plan == nullptr) {
    for (const RecordedValue& value : values) reading.literals.push_back(Literal(nullptr, value));
    return;
  }
  const std::vector<cql::BindVariable>& variables = reading.plan->variables;
  bool known = values.size() <= variables.size() || !values[0].name.empty();
  std::vector<cql::BoundValue> bound;
  for (size_t i = 0; i < variables.size(); ++i) {
    const RecordedValue* const value = ValueOf(values, *reading.plan, i);
    known &= value != nullptr && !value->is_cut;
    if (value == nullptr) continue;
    bound.push_back(value->value);
    reading.literals.push_back(Literal(&variables[i].type, *value));
  }
  // More than there are variables: what was wrong with the request is in its error.
  for (size_t i = variables.size(); !known && i < values.size(); ++i) {
    if (values[0].name.empty()) reading.literals.push_back(Literal(nullptr, values[i]));
  }
  if (known) reading.bound = std::move(bound);
}

StatementReading ReadStatement(const JournalRecord& record, const RecordedStatement& statement,
                               const Schema& schema) {
  StatementReading reading;
  reading.text = statement.text;
  if (statement.is_text_cut) reading.text += "...";
  const std::string& keyspace = record.client->keyspace;
  if (statement.prepared != nullptr) {
    reading.outline = statement.prepared->outline;
    reading.plan = statement.prepared->plan;
  } else {
    reading.outline = cql::OutlineOf(statement.text, keyspace);
    // PREPARE has nothing that a plan could tell more of.
    if (!statement.is_text_cut && record.kind != execute::RequestKind::kPrepare) {
      auto plan = cql::PlanText(statement.text, schema, keyspace);
      if (plan.ok()) reading.plan = *std::move(plan);
    }
  }
  ReadValues(statement.values, reading);
  return reading;
}

cql::StatementOp OpOf(const JournalRecord& record, const RequestReading& reading) {
  if (record.kind == execute::RequestKind::kBatch) return cql::StatementOp::kBatch;
  if (record.kind == execute::RequestKind::kPrepare) return cql::StatementOp::kPrepare;
  return reading.statements[0].outline.op;
}

// The table that all statements have; empty: there is none.
std::string CommonTable(const std::vector<StatementReading>& statements) {
  std::set<std::string> names;
  for (const StatementReading& statement : statements) {
    const auto* batch =
        statement.plan == nullptr ? nullptr : std::get_if<cql::BatchPlan>(&statement.plan->body);
    if (batch == nullptr || batch->modifications.empty()) {
      const bool has_name = batch == nullptr && !statement.outline.table.empty();
      names.insert(has_name ? cql::QualifiedTable(statement.outline) : std::string());
      continue;
    }
    for (const cql::ModificationPlan& part : batch->modifications) {
      names.insert(part.table->keyspace + "." + part.table->name);
    }
  }
  return names.size() == 1 ? *names.begin() : std::string();
}

std::optional<std::string> CommonKey(const std::vector<StatementReading>& statements) {
  cql::Partitions partitions;
  for (const StatementReading& statement : statements) {
    cql::Partitions of_statement = PartitionsOf(statement);
    if (of_statement.empty()) return std::nullopt;
    partitions.merge(of_statement);
    if (partitions.size() > 1) return std::nullopt;
  }
  if (partitions.empty()) return std::nullopt;
  const auto& [table, key] = *partitions.begin();
  return cql::PartitionKeyText(*table, key);
}

}  // namespace

cql::Partitions PartitionsOf(const StatementReading& statement) {
  if (statement.plan == nullptr || !statement.bound) return {};
  return PartitionsOf(*statement.plan, *statement.bound);
}

RequestReading ReadRequest(const JournalRecord& record, const Schema& schema) {
  RequestReading reading;
  for (const RecordedStatement& statement : record.Statements()) {
    reading.statements.push_back(ReadStatement(record, statement, schema));
    if (!reading.text.empty()) reading.text += "; ";
    reading.text += reading.statements.back().text;
    reading.prepared |= statement.prepared != nullptr;
  }
  if (record.leaves_out_statements()) reading.text += "; ...";
  reading.prepared |= record.kind == execute::RequestKind::kExecute;
  if (reading.statements.empty()) {
    LS_DCHECK(record.kind == execute::RequestKind::kBatch, "other requests have one statement");
    reading.op = cql::StatementOp::kBatch;
    return reading;
  }
  reading.op = OpOf(record, reading);
  if (!record.leaves_out_statements()) {
    reading.table = CommonTable(reading.statements);
    reading.key = CommonKey(reading.statements);
  }
  return reading;
}

}  // namespace liststore::instruments
