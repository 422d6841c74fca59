#include "engine/execute/select/row_output.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "engine/base/big_endian.h"
#include "engine/base/check.h"
#include "engine/base/status_macros.h"
#include "engine/cql/values/encode_json.h"
#include "engine/cql/values/encode_value.h"
#include "engine/model/cell_path.h"
#include "engine/model/token.h"
#include "engine/protocol/frame.h"
#include "engine/protocol/primitives.h"
#include "engine/protocol/response.h"

namespace liststore::execute {
namespace {

void AppendBigint(int64_t value, OutputBuffer& out) {
  out.AppendBigEndian32(sizeof(value));
  out.AppendBigEndian64(static_cast<uint64_t>(value));
}

void AppendInt(int32_t value, OutputBuffer& out) {
  out.AppendBigEndian32(sizeof(value));
  out.AppendBigEndian32(static_cast<uint32_t>(value));
}

// A list of what `append` makes of each; null where there is none.
template <typename Append>
void AppendOfEach(std::span<const RowBuffer::Element> elements, Append append, OutputBuffer& out) {
  if (elements.empty()) return protocol::AppendNull(out);
  OutputBuffer list;
  list.AppendBigEndian32(static_cast<uint32_t>(elements.size()));
  for (const RowBuffer::Element& element : elements) append(element, list);
  protocol::AppendBytes(out, list.ViewFrom(0));
}

int32_t TtlOf(const Liveness& liveness, int64_t now_seconds) {
  return static_cast<int32_t>(liveness.expiry_seconds - now_seconds);
}

// Of the cell whose WRITETIME or TTL is asked for; absent where there is none.
Liveness LivenessOf(const cql::Selection& selection, const RowBuffer& row,
                    cql::BoundValues values) {
  if (selection.operands.empty()) return row.liveness(selection.column);
  cql::BoundValue place;
  const cql::CqlStatus status = cql::ResolveSet(selection.operands[0].value, values, place);
  LS_CHECK(status.ok(), "places are looked at before rows are read");
  if (!place.has_value()) return {};
  const std::span<const RowBuffer::Element> elements = row.elements(selection.column);
  const DataType& type = row.table().columns[selection.column].type;
  if (type.kind() == DataType::Kind::kUser) {
    const auto field = static_cast<size_t>(cql::DecodeInteger(place.bytes));
    return field < elements.size() ? elements[field].liveness : Liveness{};
  }
  std::string path;
  AppendPath(type.parameters()[0], place.bytes, path);
  const auto at = std::ranges::find(elements, path, &RowBuffer::Element::path);
  return at == elements.end() ? Liveness{} : at->liveness;
}

// Of what the row has by itself.
void AppendLeaf(const cql::Selection& selection, const RowBuffer& row,
                const SelectionContext& context, OutputBuffer& out) {
  const int64_t now_seconds = context.now_seconds;
  switch (selection.kind) {
    case cql::Selection::Kind::kColumn: {
      const std::optional<std::string_view>& value = row.values()[selection.column];
      value ? protocol::AppendBytes(out, *value) : protocol::AppendNull(out);
      return;
    }
    case cql::Selection::Kind::kWriteTime: {
      const Liveness liveness = LivenessOf(selection, row, context.values);
      liveness.present() ? AppendBigint(liveness.timestamp.micros, out) : protocol::AppendNull(out);
      return;
    }
    case cql::Selection::Kind::kTtl: {
      const Liveness liveness = LivenessOf(selection, row, context.values);
      if (!liveness.expiring()) return protocol::AppendNull(out);
      return AppendInt(TtlOf(liveness, now_seconds), out);
    }
    // A list has no nulls: 0 stands for no TTL, and for a field that is null.
    case cql::Selection::Kind::kWriteTimes: {
      const auto append = [](const RowBuffer::Element& element, OutputBuffer& list) {
        AppendBigint(element.liveness.present() ? element.liveness.timestamp.micros : 0, list);
      };
      return AppendOfEach(row.elements(selection.column), append, out);
    }
    case cql::Selection::Kind::kTtls: {
      const auto append = [now_seconds](const RowBuffer::Element& element, OutputBuffer& list) {
        AppendInt(element.liveness.expiring() ? TtlOf(element.liveness, now_seconds) : 0, list);
      };
      return AppendOfEach(row.elements(selection.column), append, out);
    }
    case cql::Selection::Kind::kTimeuuids: {
      const auto append = [](const RowBuffer::Element& element, OutputBuffer& list) {
        protocol::AppendBytes(list, TimeuuidOfPath(element.path).view());
      };
      return AppendOfEach(row.elements(selection.column), append, out);
    }
    case cql::Selection::Kind::kToken:
      return AppendBigint(TokenOf(row.partition_key()).value, out);
    default:
      break;
  }
  LS_UNREACHABLE("calls, aggregates and what became of a write are not of a row by itself");
}

// Of the column that it is; 0: it is something else.
size_t ColumnBytes(const cql::Selection& selection, const RowBuffer& row) {
  if (selection.kind != cql::Selection::Kind::kColumn) return 0;
  const std::optional<std::string_view>& value = row.values()[selection.column];
  return value ? value->size() : 0;
}

bool IsLeaf(const cql::Selection& selection) {
  return selection.kind != cql::Selection::Kind::kCall &&
         selection.kind != cql::Selection::Kind::kValue;
}

}  // namespace

cql::CqlStatus CheckFitsFrame(size_t bytes) {
  if (bytes <= protocol::kFrameBodyBytesMax) [[likely]]
    return {};
  return cql::CqlError::Invalid(protocol::FrameEncoder::OverflowText());
}

cql::CqlStatus CheckRowBytes(size_t bytes, const SelectionContext& context) {
  if (bytes <= context.row_bytes_max) [[likely]]
    return {};
  return cql::RowOfResultTooLarge(context.row_bytes_max);
}

cql::CqlStatus AppendRow(const std::vector<cql::Selection>& selections, const RowBuffer& row,
                         const SelectionContext& context, OutputBuffer& out) {
  const size_t begin = out.size();
  for (const cql::Selection& selection : selections) {
    // Before it is copied.
    LS_RETURN_IF_ERROR(CheckRowBytes(out.size() - begin + ColumnBytes(selection, row), context));
    if (IsLeaf(selection)) {
      AppendLeaf(selection, row, context, out);
    } else {
      LS_ASSIGN_OR_RETURN(const SelectedValue value, ValueOf(selection, row, context));
      value ? protocol::AppendBytes(out, *value) : protocol::AppendNull(out);
    }
    LS_RETURN_IF_ERROR(CheckFitsFrame(out.size()));
    LS_RETURN_IF_ERROR(CheckRowBytes(out.size() - begin, context));
  }
  return {};
}

cql::CqlOr<SelectedValue> ValueOf(const cql::Selection& selection, const RowBuffer& row,
                                  const SelectionContext& context) {
  LS_RETURN_IF_ERROR(CheckRowBytes(ColumnBytes(selection, row), context));
  return Evaluate(selection, context, [&](const cql::Selection& leaf) -> SelectedValue {
    if (leaf.kind == cql::Selection::Kind::kColumn) return SelectedValue(row.values()[leaf.column]);
    // As a cell would be: what it appends behind its length is the value.
    OutputBuffer cell;
    AppendLeaf(leaf, row, context, cell);
    if (static_cast<int32_t>(cell.BigEndian32At(0)) < 0) return std::nullopt;
    return std::string(cell.ViewFrom(4));
  });
}

cql::CqlOr<SelectedValue> Evaluate(const cql::Selection& selection, const SelectionContext& context,
                                   absl::FunctionRef<SelectedValue(const cql::Selection&)> leaf) {
  if (IsLeaf(selection)) return leaf(selection);
  if (selection.kind == cql::Selection::Kind::kValue) {
    cql::BoundValue value;
    LS_RETURN_IF_ERROR(cql::ResolveSet(selection.value, context.values, value));
    return value.has_value() ? SelectedValue(value.bytes) : std::nullopt;
  }
  std::vector<SelectedValue> operands;
  size_t bytes = 0;
  for (const cql::Selection& operand : selection.operands) {
    LS_ASSIGN_OR_RETURN(SelectedValue value, Evaluate(operand, context, leaf));
    if (value) bytes += value->size();
    LS_RETURN_IF_ERROR(CheckFitsFrame(bytes));
    // SELECT JSON has all columns for operands: what they make of them is larger still.
    LS_RETURN_IF_ERROR(CheckRowBytes(bytes, context));
    operands.push_back(std::move(value));
  }
  const std::vector<std::optional<std::string_view>> arguments(operands.begin(), operands.end());
  LS_ASSIGN_OR_RETURN(SelectedValue value,
                      cql::EvaluateFunction(selection.function, arguments, context.functions));
  if (value) bytes += value->size();
  if (context.pace != nullptr && !context.pace->Spend(bytes / WorkPace::kBytesOfUnit)) {
    return cql::CqlError::Server("the statement was stopped");
  }
  return value;
}

}  // namespace liststore::execute
