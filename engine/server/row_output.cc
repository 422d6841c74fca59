#include "engine/server/row_output.h"

#include <utility>

#include "engine/base/big_endian.h"
#include "engine/base/check.h"
#include "engine/base/status_macros.h"
#include "engine/model/token.h"
#include "engine/protocol/primitives.h"

namespace liststore {
namespace {

using protocol::OutputBuffer;

void AppendBigint(int64_t value, OutputBuffer& out) {
  out.AppendBigEndian32(sizeof(value));
  out.AppendBigEndian64(static_cast<uint64_t>(value));
}

void AppendInt(int32_t value, OutputBuffer& out) {
  out.AppendBigEndian32(sizeof(value));
  out.AppendBigEndian32(static_cast<uint32_t>(value));
}

// Of what the row has by itself.
void AppendLeaf(const Selection& selection, const RowBuffer& row, int64_t now_seconds,
                OutputBuffer& out) {
  switch (selection.kind) {
    case Selection::Kind::kColumn: {
      const std::optional<std::string_view>& value = row.values()[selection.column];
      value ? protocol::AppendBytes(out, *value) : protocol::AppendNull(out);
      return;
    }
    case Selection::Kind::kWriteTime: {
      const Liveness& liveness = row.liveness(selection.column);
      liveness.present() ? AppendBigint(liveness.timestamp.micros, out) : protocol::AppendNull(out);
      return;
    }
    case Selection::Kind::kTtl: {
      const Liveness& liveness = row.liveness(selection.column);
      if (!liveness.expiring()) return protocol::AppendNull(out);
      return AppendInt(static_cast<int32_t>(liveness.expiry_seconds - now_seconds), out);
    }
    case Selection::Kind::kToken:
      return AppendBigint(TokenOf(row.partition_key()).value, out);
    default:
      break;
  }
  LS_UNREACHABLE("calls, aggregates and what became of a write are not of a row by itself");
}

bool IsLeaf(const Selection& selection) {
  return selection.kind != Selection::Kind::kCall && selection.kind != Selection::Kind::kValue;
}

}  // namespace

CqlStatus AppendRow(const std::vector<Selection>& selections, const RowBuffer& row,
                    const SelectionContext& context, OutputBuffer& out) {
  for (const Selection& selection : selections) {
    if (IsLeaf(selection)) {
      AppendLeaf(selection, row, context.now_seconds, out);
      continue;
    }
    LS_ASSIGN_OR_RETURN(const SelectedValue value, ValueOf(selection, row, context));
    value ? protocol::AppendBytes(out, *value) : protocol::AppendNull(out);
  }
  return {};
}

CqlOr<SelectedValue> ValueOf(const Selection& selection, const RowBuffer& row,
                             const SelectionContext& context) {
  return Evaluate(selection, context, [&](const Selection& leaf) -> SelectedValue {
    // As a cell would be: what it appends behind its length is the value.
    OutputBuffer cell;
    AppendLeaf(leaf, row, context.now_seconds, cell);
    if (static_cast<int32_t>(cell.BigEndian32At(0)) < 0) return std::nullopt;
    return std::string(cell.ViewFrom(4));
  });
}

CqlOr<SelectedValue> Evaluate(const Selection& selection, const SelectionContext& context,
                              absl::FunctionRef<SelectedValue(const Selection&)> leaf) {
  if (IsLeaf(selection)) return leaf(selection);
  if (selection.kind == Selection::Kind::kValue) {
    BoundValue value;
    LS_RETURN_IF_ERROR(ResolveSet(selection.value, context.values, value));
    return value.has_value() ? SelectedValue(value.bytes) : std::nullopt;
  }
  std::vector<SelectedValue> operands;
  for (const Selection& operand : selection.operands) {
    LS_ASSIGN_OR_RETURN(SelectedValue value, Evaluate(operand, context, leaf));
    operands.push_back(std::move(value));
  }
  const std::vector<std::optional<std::string_view>> arguments(operands.begin(), operands.end());
  return EvaluateFunction(selection.function, arguments, context.functions);
}

}  // namespace liststore
