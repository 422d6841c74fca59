#include "engine/cql/values/evaluate_function.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/base/big_endian.h"
#include "engine/base/check.h"
#include "engine/base/status_macros.h"
#include "engine/cql/values/cast_value.h"
#include "engine/cql/values/decode_json.h"
#include "engine/cql/values/encode_json.h"
#include "engine/cql/values/json_row.h"
#include "engine/cql/values/key_bytes.h"
#include "engine/cql/values/literal.h"
#include "engine/cql/values/print_value.h"
#include "engine/model/partition_key.h"
#include "engine/model/token.h"
#include "engine/model/types/composite_value.h"
#include "engine/model/types/timeuuid.h"

namespace liststore::cql {
namespace {

using FunctionKind = NativeFunction::Kind;
using Arguments = std::span<const std::optional<std::string_view>>;
using Result = CqlOr<std::optional<std::string>>;

constexpr int64_t kMillisecondsPerDay = 86'400'000;
constexpr uint64_t kNanosPerMillisecond = 1'000'000;
// The day of the epoch, as a date counts.
constexpr int64_t kDateOfEpoch = int64_t{1} << 31;
// 1400-01-01 and the end of 9999: ScyllaDB's dates come from a library that knows no others.
constexpr int64_t kDateMillisecondsMin = -17'987'443'200'000;
constexpr int64_t kDateMillisecondsMax = 253'402'300'799'999;

std::optional<std::string> Bigint(int64_t value) {
  std::string bytes(8, '\0');
  StoreBigEndian64(bytes.data(), static_cast<uint64_t>(value));
  return bytes;
}

Result DateAt(int64_t milliseconds) {
  if (milliseconds < kDateMillisecondsMin || milliseconds > kDateMillisecondsMax) {
    return CqlError::Server("Year is out of valid range: 1400..9999");
  }
  int64_t days = milliseconds / kMillisecondsPerDay;
  if (milliseconds % kMillisecondsPerDay < 0) --days;
  std::string bytes(4, '\0');
  StoreBigEndian32(bytes.data(), static_cast<uint32_t>(days + kDateOfEpoch));
  return std::optional(std::move(bytes));
}

// Milliseconds since the epoch of a timeuuid, timestamp or date.
int64_t Milliseconds(const DataType& type, std::string_view value) {
  if (type.is(CqlType::kTimeuuid)) return MillisecondsOfTimeuuid(value);
  if (type.is(CqlType::kTimestamp)) return static_cast<int64_t>(LoadBigEndian64(value.data()));
  LS_CHECK(type.is(CqlType::kDate), "functions of times know these three types");
  return (int64_t{LoadBigEndian32(value.data())} - kDateOfEpoch) * kMillisecondsPerDay;
}

// The first, or the last, timeuuid of a millisecond.
Result BoundOf(int64_t milliseconds, bool is_first) {
  constexpr auto kFirst =
      -static_cast<int64_t>(kTimeuuidTicksAtEpoch) / kTimeuuidTicksPerMillisecond;
  constexpr int64_t kEnd =
      static_cast<int64_t>(kTimeuuidTicksMax + 1) / kTimeuuidTicksPerMillisecond + kFirst;
  if (milliseconds < kFirst || milliseconds >= kEnd) {
    return CqlError::Server(std::to_string(milliseconds) +
                            ": timestamp is out of range. Must be in milliseconds since epoch");
  }
  const auto ticks =
      static_cast<TimeuuidTicks>((milliseconds - kFirst) * kTimeuuidTicksPerMillisecond);
  const Uuid uuid = is_first
                        ? MakeTimeuuid(ticks, kTimeuuidLowFirst)
                        : MakeTimeuuid(ticks + kTimeuuidTicksPerMillisecond - 1, kTimeuuidLowLast);
  return std::optional(std::string(uuid.view()));
}

Result EvaluateImpure(const NativeFunction& function, FunctionContext& context) {
  const auto now = static_cast<int64_t>(context.now_nanos() / kNanosPerMillisecond);
  switch (function.kind) {
    case FunctionKind::kNow:
      return std::optional(std::string(context.NewTimeuuid().view()));
    case FunctionKind::kUuid:
      return std::optional(std::string(context.NewUuid().view()));
    case FunctionKind::kCurrentTimestamp:
      return Bigint(now);
    case FunctionKind::kCurrentDate:
      return DateAt(now);
    case FunctionKind::kCurrentTime:
      return Bigint(now % kMillisecondsPerDay * static_cast<int64_t>(kNanosPerMillisecond));
    default:
      LS_UNREACHABLE("other functions are pure");
  }
}

Result FromBlob(const NativeFunction& function, std::string_view bytes) {
  if (function.result.IsValid(bytes)) return std::optional(std::string(bytes));
  return CqlError::Invalid("In call to function " + function.name + ", value " + PrintBlob(bytes) +
                           " is not a valid binary representation for type " +
                           function.result.ToString());
}

Result TokenOfKey(Arguments arguments) {
  std::vector<std::string_view> components;
  for (const auto& argument : arguments) components.push_back(*argument);
  LS_RETURN_IF_ERROR(CheckKeyBytes(components));
  std::string key;
  AppendPartitionKey(components, key);
  return Bigint(TokenOf(key).value);
}

Result JoinArguments(const NativeFunction& function, Arguments arguments) {
  std::vector<std::optional<std::string>> parts;
  for (const auto& argument : arguments) parts.emplace_back(argument);
  LS_ASSIGN_OR_RETURN(std::string value, JoinParts(function.result, std::move(parts)));
  return std::optional(std::move(value));
}

Result FieldOf(const NativeFunction& function, Arguments arguments) {
  const auto fields = SplitTuple(function.arguments[0], *arguments[0]);
  LS_CHECK(fields.has_value(), "values are validated before functions");
  const uint32_t field = LoadBigEndian32(arguments[1]->data());
  LS_CHECK(field < fields->size(), "a tuple is as long as its type");
  const std::optional<std::string_view>& value = (*fields)[field];
  return value ? std::optional(std::string(*value)) : std::nullopt;
}

Result ElementOf(const NativeFunction& function, Arguments arguments) {
  const auto element = ElementAt(function.arguments[0], *arguments[0], *arguments[1]);
  return element ? std::optional(std::string(*element)) : std::nullopt;
}

Result ToJson(const NativeFunction& function, std::optional<std::string_view> argument,
              const FunctionContext* context) {
  const size_t bytes_max = context == nullptr ? SIZE_MAX : context->json_bytes_max();
  LS_ASSIGN_OR_RETURN(std::string json, EncodeJson(function.arguments[0], argument, bytes_max));
  return std::optional(std::move(json));
}

size_t JsonValuesMax(const FunctionContext* context) {
  return context == nullptr ? kJsonValuesMax : context->json_values_max();
}

Result JsonRowOf(const NativeFunction& function, std::optional<std::string_view> text,
                 const FunctionContext* context) {
  LS_ASSIGN_OR_RETURN(std::string row,
                      DecodeJsonRow(text, function.result, JsonValuesMax(context)));
  return std::optional(std::move(row));
}

bool IsOfJsonRow(const NativeFunction& function) {
  return function.kind == FunctionKind::kJsonKey || function.kind == FunctionKind::kJsonCell ||
         function.kind == FunctionKind::kJsonOpenCell;
}

Result JsonCellIn(const NativeFunction& function, Arguments arguments) {
  const JsonCell cell = JsonCellOf(*arguments[0], LoadBigEndian32(arguments[1]->data()));
  if (cell.value) return std::optional(std::string(*cell.value));
  if (function.kind != FunctionKind::kJsonKey) return std::optional<std::string>();
  return CqlError::Invalid("Missing mandatory PRIMARY KEY part " + function.name);
}

}  // namespace

Result EvaluateFunction(const NativeFunction& function, Arguments arguments,
                        FunctionContext* context) {
  LS_CHECK(arguments.size() == function.arguments.size(), "a call has all its arguments");
  LS_CHECK(!function.is_aggregate(), "aggregates are of rows, not of values");
  if (!function.is_pure()) {
    LS_CHECK(context != nullptr, "who asks for the time brings a clock");
    return EvaluateImpure(function, *context);
  }
  if (function.kind == FunctionKind::kParts) return JoinArguments(function, arguments);
  if (function.kind == FunctionKind::kToJson) return ToJson(function, arguments[0], context);
  if (function.kind == FunctionKind::kJsonRow) {
    return JsonRowOf(function, arguments[0], context);
  }
  const auto is_null = [](const auto& argument) { return !argument.has_value(); };
  if (std::ranges::any_of(arguments, is_null)) return std::optional<std::string>();
  if (function.kind == FunctionKind::kToken) return TokenOfKey(arguments);
  if (function.kind == FunctionKind::kField) return FieldOf(function, arguments);
  if (function.kind == FunctionKind::kElement) return ElementOf(function, arguments);
  if (IsOfJsonRow(function)) return JsonCellIn(function, arguments);
  const std::string_view argument = *arguments[0];
  LS_DCHECK(function.arguments[0].IsValid(argument), "values are validated before functions");
  if (function.kind == FunctionKind::kInOrder)
    return std::optional(InOrder(function.result, argument));
  if (function.kind == FunctionKind::kToBlob) return std::optional(std::string(argument));
  if (function.kind == FunctionKind::kFromBlob) return FromBlob(function, argument);
  if (function.kind == FunctionKind::kFromJson) {
    return FromJson(argument, function.result, function.keyspace, JsonValuesMax(context));
  }
  if (function.kind == FunctionKind::kCast) {
    return CastValue(function.arguments[0].native(), function.result.native(), argument);
  }
  if (argument.empty()) return std::optional<std::string>();
  const int64_t milliseconds = Milliseconds(function.arguments[0], argument);
  switch (function.kind) {
    case FunctionKind::kToDate:
      return DateAt(milliseconds);
    case FunctionKind::kToTimestamp:
    case FunctionKind::kToUnixTimestamp:
      return Bigint(milliseconds);
    case FunctionKind::kMinTimeuuid:
    case FunctionKind::kMaxTimeuuid:
      return BoundOf(milliseconds, function.kind == FunctionKind::kMinTimeuuid);
    default:
      LS_UNREACHABLE("the other kinds were told apart above");
  }
}

}  // namespace liststore::cql
