// Source of result types and overflow: ScyllaDB cql3/functions/aggregate_fcts.cc.
#include "engine/execute/select/aggregation.h"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "engine/base/big_endian.h"
#include "engine/base/check.h"
#include "engine/base/status_macros.h"
#include "engine/cql/values/encode_value.h"
#include "engine/cql/values/number_text.h"
#include "engine/model/types/composite_value.h"
#include "engine/protocol/primitives.h"

namespace liststore::execute {

Aggregation::Aggregation(const std::vector<cql::Selection>& selections,
                         const SelectionContext& context)
    : selections_(selections), context_(context) {
  for (const cql::Selection& selection : selections_) AddParts(selection);
}

void Aggregation::AddParts(const cql::Selection& selection) {
  if (selection.kind == cql::Selection::Kind::kCall) {
    for (const cql::Selection& operand : selection.operands) AddParts(operand);
  } else if (selection.kind != cql::Selection::Kind::kValue) {
    parts_.emplace_back().selection = &selection;
  }
}

bool Aggregation::counts_rows_only() const {
  return std::ranges::all_of(selections_, [](const cql::Selection& selection) {
    return selection.kind == cql::Selection::Kind::kCountRows;
  });
}

void Aggregation::AddRows(uint64_t rows) {
  LS_DCHECK(counts_rows_only(), "other aggregates need to see the rows");
  for (Part& part : parts_) part.count += static_cast<int64_t>(rows);
}

cql::CqlStatus Aggregation::Add(const RowBuffer& row) {
  size_t bytes = 0;
  for (Part& part : parts_) {
    LS_RETURN_IF_ERROR(AddTo(part, row));
    if (part.value) bytes += part.value->size();
    bytes += part.decimals.bytes();
    LS_RETURN_IF_ERROR(CheckFitsFrame(bytes));
    LS_RETURN_IF_ERROR(CheckRowBytes(bytes, context_));
  }
  bytes_ = bytes;
  any_row_ = true;
  return {};
}

cql::CqlStatus Aggregation::AddTo(Part& part, const RowBuffer& row) {
  const cql::Selection& selection = *part.selection;
  if (selection.kind == cql::Selection::Kind::kCountRows) {
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
  if (selection.kind == cql::Selection::Kind::kMin ||
      selection.kind == cql::Selection::Kind::kMax) {
    const int order = part.value ? CompareValues(selection.type, *value, *part.value) : 0;
    const bool better = selection.kind == cql::Selection::Kind::kMin ? order < 0 : order > 0;
    if (!part.value || better) part.value = value;
    return {};
  }
  const bool adds =
      selection.kind == cql::Selection::Kind::kSum || selection.kind == cql::Selection::Kind::kAvg;
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
      return cql::CqlError::Invalid("The scales of the decimals in " + selection.name +
                                    " differ by more than " +
                                    std::to_string(cql::kLiteralDigitsMax) +
                                    ", or one of several scales has more digits than that");
    default:
      part.integers += cql::DecodeInteger(*value);
      return {};
  }
}

cql::CqlOr<SelectedValue> Aggregation::ResultOf(Part& part) {
  const cql::Selection& selection = *part.selection;
  if (selection.kind == cql::Selection::Kind::kCountRows ||
      selection.kind == cql::Selection::Kind::kCountValues) {
    return SelectedValue(cql::EncodeBigint(part.count));
  }
  if (selection.kind != cql::Selection::Kind::kSum && selection.kind != cql::Selection::Kind::kAvg)
    return std::move(part.value);
  const bool divides = selection.kind == cql::Selection::Kind::kAvg && part.count > 0;
  const auto count = static_cast<uint64_t>(part.count);
  switch (selection.type.native()) {
    case CqlType::kFloat: {
      const float result = divides ? part.floats / static_cast<float>(count) : part.floats;
      return SelectedValue(cql::EncodeFloat(result));
    }
    case CqlType::kDouble: {
      const double result = divides ? part.doubles / static_cast<double>(count) : part.doubles;
      return SelectedValue(cql::EncodeDouble(result));
    }
    case CqlType::kVarint:
      return SelectedValue((divides ? part.decimals.CutBy(count) : part.decimals).Varint());
    case CqlType::kDecimal:
      return SelectedValue((divides ? part.decimals.RoundedBy(count) : part.decimals).Decimal());
    default:
      break;
  }
  const __int128 result = divides ? part.integers / part.count : part.integers;
  const CqlType type = selection.type.native();
  const size_t bytes = CqlFixedBytes(type);
  LS_CHECK(bytes >= 1 && bytes <= 8, "the other sums are of integers");
  const __int128 max = (__int128{1} << (8 * bytes - 1)) - 1;
  if (result > max || result < -max - 1) {
    return cql::CqlError::Invalid("Sum overflow. Values should be casted to a wider type.");
  }
  return SelectedValue(cql::EncodeInteger(static_cast<int64_t>(result), type));
}

cql::CqlStatus Aggregation::AppendResult(OutputBuffer& out) {
  const size_t begin = out.size();
  std::vector<SelectedValue> results;
  size_t bytes = 0;
  for (Part& part : parts_) {
    LS_ASSIGN_OR_RETURN(SelectedValue result, ResultOf(part));
    if (result) bytes += result->size();
    LS_RETURN_IF_ERROR(CheckRowBytes(bytes, context_));
    results.push_back(std::move(result));
  }
  // Parts come in the order in which their selections are evaluated.
  size_t next = 0;
  for (const cql::Selection& selection : selections_) {
    LS_ASSIGN_OR_RETURN(const SelectedValue value,
                        Evaluate(selection, context_, [&](const cql::Selection& leaf) {
                          LS_CHECK(parts_[next].selection == &leaf, "parts come in order");
                          return std::move(results[next++]);
                        }));
    value ? protocol::AppendBytes(out, *value) : protocol::AppendNull(out);
    LS_RETURN_IF_ERROR(CheckRowBytes(out.size() - begin, context_));
  }
  for (Part& part : parts_) {
    const cql::Selection* const selection = part.selection;
    part = Part();
    part.selection = selection;
  }
  bytes_ = 0;
  any_row_ = false;
  return {};
}

}  // namespace liststore::execute
