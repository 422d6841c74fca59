// A type on the first line, and bytes behind it: as a value of that type in the protocol's
// encoding, as a literal for it, and as JSON. Valid values print as literals of the same value,
// literals and JSON become valid values, and what is shown as JSON is JSON.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/check.h"
#include "engine/base/utf8.h"
#include "engine/cql/syntax/parser.h"
#include "engine/cql/values/decode_json.h"
#include "engine/cql/values/encode_json.h"
#include "engine/cql/values/json_value.h"
#include "engine/cql/values/literal.h"
#include "engine/cql/values/print_value.h"
#include "engine/model/types/composite_value.h"

namespace liststore {
namespace {

int DepthOf(const DataType& type) {
  int depth = 0;
  for (const DataType& parameter : type.parameters()) depth = std::max(depth, DepthOf(parameter));
  return depth + 1;
}

// nullopt where the text is no literal, or none of that type.
std::optional<std::string> ValueOf(const DataType& type, std::string_view text) {
  const cql::CqlOr<cql::Expression> term = cql::ParseTerm(text);
  if (!term.ok() || !cql::IsLiteral(*term)) return std::nullopt;
  cql::CqlOr<std::optional<std::string>> value = cql::EncodeLiteral(*term, type, "c");
  if (!value.ok() || !value->has_value()) return std::nullopt;
  LS_CHECK(type.IsValid(**value), "literals become valid values");
  return **std::move(value);
}

// `value` is valid.
void CheckRoundTrip(const DataType& type, std::string_view value) {
  LS_CHECK(CompareValues(type, value, value) == 0, "a value equals itself");
  const std::string printed = cql::PrintValue(type, value);
  // Empty numbers, numbers of megabytes, and what nests too deep for an expression.
  if (printed.find("blobas") != std::string::npos || DepthOf(type) >= cql::kExpressionNestingMax)
    return;
  const std::optional<std::string> first = ValueOf(type, printed);
  LS_CHECK(first, "what prints is a literal");
  const std::optional<std::string> second = ValueOf(type, cql::PrintValue(type, *first));
  LS_CHECK(second == first, "printing and reading again changes nothing");
  // Durations have no order but that of their bytes, of which there may be too many.
  if (type.is_native() && !type.is(CqlType::kDuration)) {
    LS_CHECK(CompareValues(type, value, *first) == 0, "the literal is of the same value");
  }
}

// `value` is valid.
void CheckShownAsJson(const DataType& type, std::string_view value) {
  const cql::CqlOr<std::string> json = cql::EncodeJson(type, value);
  if (!json.ok() || DepthOf(type) >= cql::kJsonNestingMax) return;
  const cql::CqlOr<cql::JsonValue> read = cql::ParseJson(*json);
  // Decimals have larger exponents than doubles.
  if (!read.ok() && read.error().message.find("Number too big") != std::string::npos) return;
  LS_CHECK(read.ok(), "what is shown as JSON is JSON");
  LS_CHECK(cql::ParseJson(cql::PrintJson(*read)).ok(), "what was read can be printed");
  // Some of it is not taken again: nulls within tuples, numbers that no double holds.
  const cql::CqlOr<std::string> again = cql::DecodeJson(*read, type);
  LS_CHECK(!again.ok() || type.IsValid(*again), "JSON becomes valid values");
}

// Whatever it is, as JSON that somebody sends.
void CheckTakenAsJson(const DataType& type, std::string_view text) {
  const cql::CqlOr<cql::JsonValue> json = cql::ParseJson(text);
  if (!json.ok()) return;
  const cql::CqlOr<std::string> value = cql::DecodeJson(*json, type);
  if (!value.ok()) return;
  LS_CHECK(type.IsValid(*value), "JSON becomes valid values");
  CheckShownAsJson(type, *value);
}

}  // namespace
}  // namespace liststore

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace liststore;  // NOLINT(google-build-using-namespace)
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const size_t line = std::min(input.find('\n'), size);
  const cql::CqlOr<cql::TypeSpec> spec = cql::ParseType(input.substr(0, line));
  if (!spec.ok()) return 0;
  const cql::CqlOr<DataType> type = cql::ToDataType(*spec, "ks");
  if (!type.ok()) return 0;
  const std::string_view rest = line == size ? std::string_view() : input.substr(line + 1);
  if (type->IsValid(rest)) {
    CheckRoundTrip(*type, rest);
    CheckShownAsJson(*type, rest);
  }
  if (IsValidUtf8(rest)) CheckTakenAsJson(*type, rest);
  if (const std::optional<std::string> value = ValueOf(*type, rest)) CheckRoundTrip(*type, *value);
  return 0;
}
