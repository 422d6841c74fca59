#include "engine/instruments/fault_table.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <utility>

#include "engine/base/big_endian.h"
#include "engine/base/check.h"
#include "engine/base/nearest_name.h"
#include "engine/cql/schema/computed_table.h"
#include "engine/cql/values/encode_value.h"

namespace liststore::instruments {
namespace {

constexpr cql::TableSpec kFaultsSpec = {
    "liststore",
    "faults",
    "name text",
    "",
    "action text, applies boolean, connection text, consistency text, hits bigint, key text, "
    "op text, probability double, remaining int, seed bigint, statement text, tbl text, times int, "
    "warning text",
    "what goes wrong, for which statements"};

constexpr std::string_view kConsistencies[] = {
    "ANY",          "ONE",         "TWO",    "THREE",        "QUORUM",   "ALL",
    "LOCAL_QUORUM", "EACH_QUORUM", "SERIAL", "LOCAL_SERIAL", "LOCAL_ONE"};

// Of a column. Faults are kept outside of the memory limit, which is for data.
constexpr size_t kTextBytesMax = 65'535;

cql::CqlError RefuseFault(const std::string& why) {
  return cql::CqlError::Invalid("liststore.faults: " + why);
}

std::string Upper(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

std::string Lower(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// The tables among which one is looked for that was meant, and the longest name: it takes as long as both.
constexpr size_t kNearTablesMax = 1000;
constexpr size_t kNearBytesMax = 200;

// "; did you mean feat.clicks?", or nothing.
std::string NearestTable(const std::string& table, const Schema& schema) {
  if (table.size() > kNearBytesMax) return "";
  std::vector<std::string> known;
  for (const auto& [keyspace, definition] : schema.keyspaces) {
    if (definition->is_system()) continue;
    for (const auto& [name, of_name] : definition->tables) {
      if (known.size() == kNearTablesMax) break;
      known.push_back(keyspace + "." + name);
    }
  }
  const std::vector<std::string_view> names(known.begin(), known.end());
  return DidYouMean(table, names);
}

// Why no request meets the fault as things are; empty: some may.
std::string WarningOf(const Fault& fault, const Schema& schema, bool with_nearest = true) {
  if (!fault.condition.table) return {};
  const std::string& table = *fault.condition.table;
  const std::string_view keyspace = std::string_view(table).substr(0, table.find('.'));
  if (keyspace == kFaultsSpec.keyspace) {
    return "tbl '" + table + "': statements on the keyspace liststore meet no fault";
  }
  const KeyspaceDefinition* const there = schema.FindKeyspace(keyspace);
  const std::string_view name = std::string_view(table).substr(keyspace.size() + 1);
  if (there != nullptr && there->tables.contains(name)) return {};
  return "tbl '" + table + "': there is no such " + (there == nullptr ? "keyspace" : "table") +
         ", and nothing meets the fault until there is" +
         (with_nearest ? NearestTable(table, schema) : "");
}

// A column of what becomes a fault.
cql::CqlStatus SetText(std::string_view column, const std::string& value, Fault& fault) {
  if (column == "action") {
    cql::CqlOr<FaultAction> action = ParseFaultAction(value);
    if (!action.ok()) return action.status();
    fault.action = *action;
    fault.action_text = Lower(value);
  } else if (column == "op") {
    fault.condition.op = cql::ParseStatementOp(value);
    if (!fault.condition.op) {
      return RefuseFault(
          "op '" + value +
          "' is not SELECT, INSERT, UPDATE, DELETE, TRUNCATE, BATCH, PREPARE, CREATE, "
          "ALTER, DROP, USE or DESCRIBE");
    }
  } else if (column == "tbl") {
    if (value.find('.') == std::string::npos) {
      return RefuseFault("tbl '" + value + "' is not keyspace.table");
    }
    fault.condition.table = value;
  } else if (column == "consistency") {
    fault.condition.consistency = Upper(value);
    if (std::ranges::find(kConsistencies, *fault.condition.consistency) ==
        std::end(kConsistencies)) {
      return RefuseFault("consistency '" + value + "' is none, like LOCAL_QUORUM is");
    }
  } else if (column == "statement") {
    fault.condition.statement = value;
  } else if (column == "key") {
    fault.condition.key = value;
  } else {
    LS_CHECK(column == "connection", "a statement has only columns of its table");
    fault.condition.connection = value;
  }
  return {};
}

cql::CqlStatus SetNumber(std::string_view column, std::string_view value, Fault& fault) {
  if (value.empty()) return RefuseFault(std::string(column) + " cannot be empty");
  if (column == "times") {
    const auto times = static_cast<int32_t>(LoadBigEndian32(value.data()));
    if (times < 1) return RefuseFault("times is " + std::to_string(times) + ", less than 1");
    fault.times = static_cast<uint32_t>(times);
  } else if (column == "probability") {
    const auto probability = std::bit_cast<double>(LoadBigEndian64(value.data()));
    if (!(probability >= 0 && probability <= 1)) {
      return RefuseFault("probability is " + std::to_string(probability) + ", not 0 to 1");
    }
    fault.probability = probability;
  } else if (column == "seed") {
    fault.seed = LoadBigEndian64(value.data());
  } else {
    LS_CHECK(column == "applies", "a statement has only columns of its table");
    fault.applies = value[0] != 0;
  }
  return {};
}

bool IsNumber(std::string_view column) {
  return column == "times" || column == "probability" || column == "seed" || column == "applies";
}

}  // namespace

FaultTable::FaultTable(FaultPlan& plan, SchemaOfNow schema)
    : plan_(plan),
      schema_(std::move(schema)),
      definition_(cql::MakeVirtualDefinition(kFaultsSpec)) {}

std::vector<cql::VirtualRow> FaultTable::Rows(const cql::VirtualReadContext& context) const {
  cql::RowCollector rows(*definition_);
  // Others wait for it.
  constexpr size_t kWithNearestMax = 16;
  size_t warnings = 0;
  for (const Fault& fault : plan_.List()) {
    const FaultCondition& condition = fault.condition;
    cql::RowCollector& row = rows.Row();
    const auto set = [&row](std::string_view column, const std::optional<std::string>& value) {
      if (value) row.Set(column, *value);
    };
    row.Set("name", fault.name)
        .Set("action", fault.action_text)
        .Set("applies", cql::EncodeBoolean(fault.applies))
        .Set("hits", cql::EncodeBigint(static_cast<int64_t>(fault.hits)))
        .Set("seed", cql::EncodeBigint(static_cast<int64_t>(fault.seed)));
    set("tbl", condition.table);
    set("statement", condition.statement);
    set("consistency", condition.consistency);
    set("key", condition.key);
    set("connection", condition.connection);
    if (condition.op) row.Set("op", std::string(ToString(*condition.op)));
    if (fault.probability) row.Set("probability", cql::EncodeDouble(*fault.probability));
    if (std::string warning = WarningOf(fault, context.schema, warnings < kWithNearestMax);
        !warning.empty()) {
      ++warnings;
      row.Set("warning", std::move(warning));
    }
    if (!fault.times) continue;
    row.Set("times", cql::EncodeInt(static_cast<int32_t>(*fault.times)));
    row.Set("remaining", cql::EncodeInt(static_cast<int32_t>(*fault.times - fault.hits)));
  }
  return rows.Take();
}

std::optional<cql::CqlError> FaultTable::WriteAndWarn(const Values& values,
                                                      std::vector<std::string>& warnings) {
  Fault fault;
  // Any will do, but it can be read, and given again.
  fault.seed = std::random_device()() >> 1;
  for (const auto& [column, value] : values) {
    if (column == "hits" || column == "remaining") {
      return RefuseFault(column + " is counted, and cannot be set");
    }
    if (column == "warning") return RefuseFault("warning is the server's, and cannot be set");
    if (!value) continue;
    if (value->size() > kTextBytesMax) {
      return RefuseFault(column + " has " + std::to_string(value->size()) + " bytes, more than " +
                         std::to_string(kTextBytesMax));
    }
    if (column == "name") {
      fault.name = *value;
      continue;
    }
    cql::CqlStatus status =
        IsNumber(column) ? SetNumber(column, *value, fault) : SetText(column, *value, fault);
    if (!status.ok()) return status.TakeError();
  }
  if (fault.action_text.empty()) return RefuseFault("an action is wanted: what goes wrong");
  std::string warning = WarningOf(fault, *schema_());
  if (!plan_.Put(std::move(fault))) {
    return RefuseFault("there are " + std::to_string(FaultPlan::kFaultsMax) + " faults already");
  }
  if (!warning.empty()) warnings.push_back("liststore.faults: " + std::move(warning));
  return std::nullopt;
}

std::optional<cql::CqlError> FaultTable::Delete(const Values& key) {
  LS_CHECK(key.size() == 1 && key[0].second.has_value(), "a fault's key is its name");
  plan_.Remove(*key[0].second);
  return std::nullopt;
}

}  // namespace liststore::instruments
