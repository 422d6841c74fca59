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
    "op text, probability double, remaining int, seed bigint, statement text, tbl text, times int",
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

// A column of what becomes a fault.
cql::CqlStatus SetText(std::string_view column, const std::string& value, Fault& fault) {
  if (column == "action") {
    cql::CqlOr<FaultAction> action = ParseFaultAction(value);
    if (!action.ok()) return action.status();
    fault.action = *action;
    fault.action_text = value;
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

FaultTable::FaultTable(FaultPlan& plan)
    : plan_(plan), definition_(cql::MakeVirtualDefinition(kFaultsSpec)) {}

std::vector<cql::VirtualRow> FaultTable::Rows(const cql::VirtualReadContext& /*context*/) const {
  cql::RowCollector rows(*definition_);
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
    if (!fault.times) continue;
    row.Set("times", cql::EncodeInt(static_cast<int32_t>(*fault.times)));
    row.Set("remaining", cql::EncodeInt(static_cast<int32_t>(*fault.times - fault.hits)));
  }
  return rows.Take();
}

std::optional<cql::CqlError> FaultTable::Write(const Values& values) {
  Fault fault;
  // Any will do, but it can be read, and given again.
  fault.seed = std::random_device()() >> 1;
  for (const auto& [column, value] : values) {
    if (column == "hits" || column == "remaining") {
      return RefuseFault(column + " is counted, and cannot be set");
    }
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
  if (!plan_.Put(std::move(fault))) {
    return RefuseFault("there are " + std::to_string(FaultPlan::kFaultsMax) + " faults already");
  }
  return std::nullopt;
}

std::optional<cql::CqlError> FaultTable::Delete(const Values& key) {
  LS_CHECK(key.size() == 1 && key[0].second.has_value(), "a fault's key is its name");
  plan_.Remove(*key[0].second);
  return std::nullopt;
}

}  // namespace liststore::instruments
