#include "engine/server/row_output.h"

#include <algorithm>

#include "engine/base/check.h"
#include "engine/model/composite_value.h"
#include "engine/model/token.h"

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

// Null where the column is, or a field on the way.
std::optional<std::string_view> FieldOf(const Selection& selection, const RowBuffer& row) {
  const DataType* type = &row.table().columns[selection.column].type;
  std::optional<std::string_view> value = row.values()[selection.column];
  for (const uint16_t field : selection.fields) {
    if (!value) return std::nullopt;
    const auto fields = SplitTuple(*type, *value);
    LS_CHECK(fields.has_value(), "values are validated before they are stored");
    value = (*fields)[field];
    type = &type->parameters()[field];
  }
  return value;
}

void AppendCell(const Selection& selection, const RowBuffer& row, int64_t now_seconds,
                OutputBuffer& out) {
  switch (selection.kind) {
    case Selection::Kind::kColumn: {
      const std::optional<std::string_view>& value = row.values()[selection.column];
      value ? protocol::AppendBytes(out, *value) : protocol::AppendNull(out);
      return;
    }
    case Selection::Kind::kField: {
      const std::optional<std::string_view> value = FieldOf(selection, row);
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
    case Selection::Kind::kCountRows:
    case Selection::Kind::kCountCells:
    case Selection::Kind::kMin:
    case Selection::Kind::kMax:
    case Selection::Kind::kApplied:
      break;
  }
  LS_UNREACHABLE("aggregates and what became of a write are not cells of a row");
}

}  // namespace

void AppendRow(const std::vector<Selection>& selections, const RowBuffer& row, int64_t now_seconds,
               OutputBuffer& out) {
  for (const Selection& selection : selections) AppendCell(selection, row, now_seconds, out);
}

Aggregation::Aggregation(const std::vector<Selection>& selections)
    : selections_(selections), sums_(selections.size()) {}

bool Aggregation::counts_rows_only() const {
  return std::ranges::all_of(selections_, [](const Selection& selection) {
    return selection.kind == Selection::Kind::kCountRows;
  });
}

void Aggregation::AddRows(uint64_t rows) {
  LS_DCHECK(counts_rows_only(), "other sums need to see the rows");
  for (Sum& sum : sums_) sum.count += static_cast<int64_t>(rows);
}

void Aggregation::Add(const RowBuffer& row, int64_t now_seconds) {
  for (size_t i = 0; i < sums_.size(); ++i) {
    const Selection& selection = selections_[i];
    Sum& sum = sums_[i];
    const bool first_row = !sum.any_row;
    sum.any_row = true;
    if (!selection.is_aggregate()) {
      if (!first_row) continue;
      // As a cell would be: what it appends behind its length is the value.
      OutputBuffer cell;
      AppendCell(selection, row, now_seconds, cell);
      if (static_cast<int32_t>(cell.BigEndian32At(0)) >= 0) sum.value = cell.ViewFrom(4);
      continue;
    }
    if (selection.kind == Selection::Kind::kCountRows) {
      ++sum.count;
      continue;
    }
    const std::optional<std::string_view>& value = row.values()[selection.column];
    if (!value) continue;
    ++sum.count;
    if (selection.kind == Selection::Kind::kCountCells) continue;
    const int order = sum.value ? CompareValues(selection.type, *value, *sum.value) : 0;
    const bool better = selection.kind == Selection::Kind::kMin ? order < 0 : order > 0;
    if (!sum.value || better) sum.value = *value;
  }
}

void Aggregation::AppendResult(OutputBuffer& out) const {
  for (size_t i = 0; i < sums_.size(); ++i) {
    const bool counts = selections_[i].kind == Selection::Kind::kCountRows ||
                        selections_[i].kind == Selection::Kind::kCountCells;
    if (counts) {
      AppendBigint(sums_[i].count, out);
    } else if (sums_[i].value) {
      protocol::AppendBytes(out, *sums_[i].value);
    } else {
      protocol::AppendNull(out);
    }
  }
}

}  // namespace liststore
