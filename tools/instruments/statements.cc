#include "tools/instruments/statements.h"

#include <algorithm>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "engine/base/nearest_name.h"
#include "engine/base/strings.h"
#include "engine/cql/syntax/quoting.h"
#include "engine/cql/values/time_text.h"

namespace liststore {
namespace {

enum class Type {
  kText,
  kInteger,
  kNumber,
  kBoolean
};
struct FaultColumn {
  std::string_view name;
  Type type;
};
// Those of liststore.faults that can be set, but for the name.
constexpr FaultColumn kFaultColumns[] = {
    {"action", Type::kText},        {"applies", Type::kBoolean}, {"connection", Type::kText},
    {"consistency", Type::kText},   {"key", Type::kText},        {"op", Type::kText},
    {"probability", Type::kNumber}, {"seed", Type::kInteger},    {"statement", Type::kText},
    {"tbl", Type::kText},           {"times", Type::kInteger},
};

std::string UpdateClock(std::string_view column, std::string_view literal) {
  return absl::StrCat("UPDATE liststore.clock SET ", ToAbsl(column), " = ", ToAbsl(literal),
                      " WHERE key = 'clock'");
}

// nullopt: no value of that type.
std::optional<std::string> LiteralOf(Type type, std::string_view value) {
  switch (type) {
    case Type::kText:
      return cql::QuoteString(value);
    case Type::kInteger:
      if (int64_t number; absl::SimpleAtoi(ToAbsl(value), &number)) return absl::StrCat(number);
      return std::nullopt;
    case Type::kNumber:
      if (double number; absl::SimpleAtod(ToAbsl(value), &number)) return std::string(value);
      return std::nullopt;
    case Type::kBoolean:
      if (value == "true" || value == "false") return std::string(value);
      return std::nullopt;
  }
  return std::nullopt;
}

std::string_view NameOf(Type type) {
  switch (type) {
    case Type::kInteger:
      return "an integer";
    case Type::kNumber:
      return "a number";
    case Type::kBoolean:
      return "true or false";
    case Type::kText:
      break;
  }
  return "a text";
}

absl::Status NoSuchColumn(std::string_view name) {
  std::vector<std::string_view> names;
  std::string all;
  for (const FaultColumn& column : kFaultColumns) {
    names.push_back(column.name);
    absl::StrAppend(&all, all.empty() ? "" : ", ", ToAbsl(column.name));
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "a fault has no '", ToAbsl(name), "'", DidYouMean(name, names), " (there are ", all, ")"));
}

}  // namespace

std::string SetClock(std::string_view time) { return UpdateClock("now", cql::QuoteString(time)); }

std::string SetClockMode(std::string_view mode) {
  return UpdateClock("mode", cql::QuoteString(mode));
}

absl::StatusOr<std::string> AdvanceClock(std::string_view duration) {
  if (!cql::ParseDurationText(duration).ok()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "'", ToAbsl(duration), "' is not a duration; use one like 500ms, 90s, 1h30m or 30d"));
  }
  return UpdateClock("advance", duration);
}

absl::StatusOr<std::string> AddFault(std::string_view name,
                                     const std::vector<std::string>& settings) {
  std::string columns = "name";
  std::string values = cql::QuoteString(name);
  for (const std::string& setting : settings) {
    const size_t equals = setting.find('=');
    if (equals == std::string::npos) {
      return absl::InvalidArgumentError(
          absl::StrCat("'", setting, "' is not COLUMN=VALUE, like op=SELECT"));
    }
    const std::string_view column = std::string_view(setting).substr(0, equals);
    const std::string_view value = std::string_view(setting).substr(equals + 1);
    const auto* const known = std::ranges::find(kFaultColumns, column, &FaultColumn::name);
    if (known == std::end(kFaultColumns)) return NoSuchColumn(column);
    const std::optional<std::string> literal = LiteralOf(known->type, value);
    if (!literal) {
      return absl::InvalidArgumentError(
          absl::StrCat(setting, ": '", ToAbsl(value), "' is not ", ToAbsl(NameOf(known->type))));
    }
    absl::StrAppend(&columns, ", ", ToAbsl(column));
    absl::StrAppend(&values, ", ", *literal);
  }
  return absl::StrCat("INSERT INTO liststore.faults (", columns, ") VALUES (", values, ")");
}

std::string RemoveFault(std::string_view name) {
  return "DELETE FROM liststore.faults WHERE name = " + cql::QuoteString(name);
}

std::string DoWithData(std::string_view action) {
  return absl::StrCat("UPDATE liststore.data SET action = ", cql::QuoteString(action),
                      " WHERE key = 'data'");
}

std::string RequestsAfter(int64_t seq, std::string_view columns) {
  return absl::StrCat("SELECT ", ToAbsl(columns),
                      " FROM liststore.requests WHERE journal = 'requests' AND seq > ", seq);
}

}  // namespace liststore
