// Source of result types and overflow: ScyllaDB cql3/functions/aggregate_fcts.cc.
#include "engine/server/aggregation.h"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "engine/base/big_endian.h"
#include "engine/base/check.h"
#include "engine/base/status_macros.h"
#include "engine/cql/literal.h"
#include "engine/model/composite_value.h"
#include "engine/protocol/primitives.h"

namespace liststore {
namespace {

using Kind = Selection::Kind;

std::string BigEndian(uint64_t value, size_t bytes) {
  std::string all(8, '\0');
  StoreBigEndian64(all.data(), value);
  return all.substr(8 - bytes);
}

int64_t IntegerOf(std::string_view bytes) {
  uint64_t value = (bytes[0] & 0x80) != 0 ? ~uint64_t{0} : 0;
  for (const char byte : bytes) value = value << 8 | static_cast<uint8_t>(byte);
  return static_cast<int64_t>(value);
}

}  // namespace

Aggregation::Aggregation(const std::vector<Selection>& selections, const SelectionContext& context)
    : selections_(selections), context_(context) {
  for (const Selection& selection : selections_) AddParts(selection);
}

void Aggregation::AddParts(const Selection& selection) {
  if (selection.kind == Kind::kCall) {
    for (const Selection& operand : selection.operands) AddParts(operand);
  } else if (selection.kind != Kind::kValue) {
    parts_.emplace_back().selection = &selection;
  }
}

bool Aggregation::counts_rows_only() const {
  return std::ranges::all_of(
      selections_, [](const Selection& selection) { return selection.kind == Kind::kCountRows; });
}

void Aggregation::AddRows(uint64_t rows) {
  LS_DCHECK(counts_rows_only(), "other aggregates need to see the rows");
  for (Part& part : parts_) part.count += static_cast<int64_t>(rows);
}

CqlStatus Aggregation::Add(const RowBuffer& row) {
  for (Part& part : parts_) LS_RETURN_IF_ERROR(AddTo(part, row));
  any_row_ = true;
  return {};
}

CqlStatus Aggregation::AddTo(Part& part, const RowBuffer& row) {
  const Selection& selection = *part.selection;
  if (selection.kind == Kind::kCountRows) {
    ++part.count;
    return {};
  }
  if (!selection.is_aggregate()) {
    if (any_row_) return {};
    LS_ASSIGN_OR_RETURN(part.value, ValueOf(selection, row, context_));
    return {};
  }
  LS_ASSIGN_OR_RETURN(const SelectedValue value, ValueOf(selection.operands[0], row, context_));
  if (!value) return {};
  if (selection.kind == Kind::kMin || selection.kind == Kind::kMax) {
    const int order = part.value ? CompareValues(selection.type, *value, *part.value) : 0;
    const bool better = selection.kind == Kind::kMin ? order < 0 : order > 0;
    if (!part.value || better) part.value = value;
    return {};
  }
  const bool adds = selection.kind == Kind::kSum || selection.kind == Kind::kAvg;
  if (adds && value->empty()) return {};  // a number of no bytes is none
  ++part.count;
  if (!adds) return {};
  switch (selection.operands[0].type.native()) {
    case CqlType::kFloat:
      part.floats += std::bit_cast<float>(LoadBigEndian32(value->data()));
      return {};
    case CqlType::kDouble:
      part.doubles += std::bit_cast<double>(LoadBigEndian64(value->data()));
      return {};
    case CqlType::kVarint:
      part.decimals.AddVarint(*value);
      return {};
    case CqlType::kDecimal:
      if (part.decimals.AddDecimal(*value)) return {};
      return CqlError::Invalid("The scales of the decimals in " + selection.name +
                               " differ by more than " + std::to_string(kLiteralDigitsMax));
    default:
      part.integers += IntegerOf(*value);
      return {};
  }
}

CqlOr<SelectedValue> Aggregation::ResultOf(const Part& part) const {
  const Selection& selection = *part.selection;
  if (selection.kind == Kind::kCountRows || selection.kind == Kind::kCountValues) {
    return SelectedValue(BigEndian(static_cast<uint64_t>(part.count), 8));
  }
  if (selection.kind != Kind::kSum && selection.kind != Kind::kAvg) return part.value;
  const bool divides = selection.kind == Kind::kAvg && part.count > 0;
  const auto count = static_cast<uint64_t>(part.count);
  switch (selection.type.native()) {
    case CqlType::kFloat: {
      const float result = divides ? part.floats / static_cast<float>(count) : part.floats;
      return SelectedValue(BigEndian(std::bit_cast<uint32_t>(result), 4));
    }
    case CqlType::kDouble: {
      const double result = divides ? part.doubles / static_cast<double>(count) : part.doubles;
      return SelectedValue(BigEndian(std::bit_cast<uint64_t>(result), 8));
    }
    case CqlType::kVarint:
      return SelectedValue((divides ? part.decimals.CutBy(count) : part.decimals).Varint());
    case CqlType::kDecimal:
      return SelectedValue((divides ? part.decimals.RoundedBy(count) : part.decimals).Decimal());
    default:
      break;
  }
  const __int128 result = divides ? part.integers / part.count : part.integers;
  const size_t bytes = CqlFixedBytes(selection.type.native());
  LS_CHECK(bytes >= 1 && bytes <= 8, "the other sums are of integers");
  const __int128 max = (__int128{1} << (8 * bytes - 1)) - 1;
  if (result > max || result < -max - 1) {
    return CqlError::Invalid("Sum overflow. Values should be casted to a wider type.");
  }
  return SelectedValue(BigEndian(static_cast<uint64_t>(result), bytes));
}

CqlStatus Aggregation::AppendResult(protocol::OutputBuffer& out) {
  std::vector<SelectedValue> results;
  for (const Part& part : parts_) {
    LS_ASSIGN_OR_RETURN(SelectedValue result, ResultOf(part));
    results.push_back(std::move(result));
  }
  // Parts come in the order in which their selections are evaluated.
  size_t next = 0;
  for (const Selection& selection : selections_) {
    LS_ASSIGN_OR_RETURN(const SelectedValue value,
                        Evaluate(selection, context_, [&](const Selection& leaf) {
                          LS_CHECK(parts_[next].selection == &leaf, "parts come in order");
                          return results[next++];
                        }));
    value ? protocol::AppendBytes(out, *value) : protocol::AppendNull(out);
  }
  for (Part& part : parts_) {
    const Selection* const selection = part.selection;
    part = Part();
    part.selection = selection;
  }
  any_row_ = false;
  return {};
}

}  // namespace liststore
