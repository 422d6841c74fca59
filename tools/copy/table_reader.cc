#include "tools/copy/table_reader.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "absl/strings/str_cat.h"
#include "engine/base/big_endian.h"
#include "engine/base/check.h"
#include "engine/base/status_macros.h"
#include "engine/base/strings.h"
#include "engine/cql/syntax/quoting.h"

namespace liststore {
namespace {

using Kind = RemoteColumn::Kind;

// The elements of a collection, which come behind their number, or the fields of a user type;
// absent are those that are null. Of a value that is cut short those that are whole.
std::vector<std::optional<std::string_view>> Split(std::string_view value, bool is_counted) {
  std::vector<std::optional<std::string_view>> parts;
  if (is_counted) value.remove_prefix(std::min(value.size(), sizeof(int32_t)));
  while (value.size() >= sizeof(int32_t)) {
    const auto bytes = static_cast<int32_t>(LoadBigEndian32(value.data()));
    value.remove_prefix(sizeof(bytes));
    if (bytes < 0) {
      parts.emplace_back();
      continue;
    }
    if (value.size() < static_cast<size_t>(bytes)) break;
    parts.emplace_back(value.substr(0, static_cast<size_t>(bytes)));
    value.remove_prefix(parts.back()->size());
  }
  return parts;
}

}  // namespace

RowLayout::RowLayout(const RemoteTable& table, PartTimes part_times)
    : partition_keys(table.CountOf(Kind::kPartitionKey)),
      keys(partition_keys + table.CountOf(Kind::kClustering)),
      statics(table.CountOf(Kind::kStatic)) {
  using Parts = RemoteColumn::Parts;
  std::string selected, partition_key;
  const auto select = [&](const std::string& what) {
    absl::StrAppend(&selected, selected.empty() ? "" : ", ", what);
    return columns++;
  };
  for (const RemoteColumn& column : table.columns) {
    const std::string name = cql::QuoteIdentifier(column.name);
    select(name);
    if (column.kind == Kind::kPartitionKey) {
      absl::StrAppend(&partition_key, partition_key.empty() ? "" : ", ", name);
    }
  }
  for (size_t i = keys; i < table.columns.size(); ++i) {
    const RemoteColumn& column = table.columns[i];
    Cell& cell = cells.emplace_back();
    cell.parts = column.parts;
    const bool has_parts = column.parts != Parts::kNone;
    if (table.is_counter() || (has_parts && part_times == PartTimes::kNever)) continue;
    const std::string name = "(" + cql::QuoteIdentifier(column.name) + ")";
    const bool by_function = has_parts && part_times == PartTimes::kByFunction;
    cell.timestamp = select((by_function ? "liststore.writetimes" : "WRITETIME") + name);
    cell.zero_is_no_ttl = by_function;
    cell.ttl = select((by_function ? "liststore.ttls" : "TTL") + name);
    if (by_function && column.parts == Parts::kList) {
      cell.timeuuids = select("liststore.timeuuids" + name);
    }
  }
  const std::string token = "token(" + partition_key + ")";
  statement = absl::StrCat("SELECT ", selected, " FROM ", table.QuotedName(), " WHERE ", token,
                           " > ? AND ", token, " <= ?");
}

RemoteCell RemoteRows::cell(size_t row, size_t cell) const {
  const RowLayout::Cell& layout = layout_.cells[cell];
  const std::optional<std::string_view> bytes = value(row, cell);
  if (!bytes) return {};
  RemoteCell result{.present = true, .value = *bytes};
  if (!layout.timestamp) return result;
  result.timestamp_micros = rows_.Integer(row, *layout.timestamp);
  if (rows_.is_null(row, *layout.ttl)) return result;
  result.ttl_seconds = static_cast<int32_t>(rows_.Integer(row, *layout.ttl));
  if (result.ttl_seconds <= 0) return {};  // to write it with 0 would be forever
  return result;
}

std::vector<RemoteElement> RemoteRows::elements(size_t row, size_t cell) const {
  using Parts = RemoteColumn::Parts;
  const RowLayout::Cell& layout = layout_.cells[cell];
  const auto values = Split(rows_.at(row, keys() + cell), layout.parts != Parts::kFields);
  const auto timestamps = Split(rows_.at(row, *layout.timestamp), true);
  const auto ttls = Split(rows_.at(row, *layout.ttl), true);
  const auto timeuuids =
      Split(layout.timeuuids ? rows_.at(row, *layout.timeuuids) : std::string_view(), true);
  const size_t stride = layout.parts == Parts::kMap ? 2 : 1;
  std::vector<RemoteElement> elements;
  for (size_t i = 0; i < values.size() / stride; ++i) {
    const std::optional<std::string_view>& value = values[i * stride + stride - 1];
    if (!value) continue;  // a field that is null
    RemoteElement element{.number = i, .value = *value};
    if (layout.parts == Parts::kMap) element.key = values[i * stride].value_or("");
    if (layout.parts == Parts::kSet) element.key = *value;
    if (i < timeuuids.size()) element.timeuuid = timeuuids[i].value_or("");
    if (i < timestamps.size() && timestamps[i] && timestamps[i]->size() == sizeof(int64_t)) {
      element.timestamp_micros = static_cast<int64_t>(LoadBigEndian64(timestamps[i]->data()));
    }
    if (i < ttls.size() && ttls[i] && ttls[i]->size() == sizeof(int32_t)) {
      element.ttl_seconds = static_cast<int32_t>(LoadBigEndian32(ttls[i]->data()));
      if (element.ttl_seconds <= 0 && !layout.zero_is_no_ttl) continue;
    }
    elements.push_back(element);
  }
  return elements;
}

std::string RemoteRows::KeyBytes(size_t row, size_t columns) const {
  std::string bytes;
  for (size_t i = 0; i < columns; ++i) {
    const std::string_view value = rows_.at(row, i);
    bytes += CqlInt(rows_.is_null(row, i) ? -1 : static_cast<int32_t>(value.size()));
    bytes += value;
  }
  return bytes;
}

absl::StatusOr<TableReader> TableReader::Open(CqlClient& client, const RemoteTable& table,
                                              int32_t page_rows, const RemoteSchema& schema) {
  TableReader reader(client, table, page_rows, schema);
  LS_ASSIGN_OR_RETURN(reader.statement_, client.Prepare(reader.page_.layout().statement));
  return reader;
}

void TableReader::Begin(int range) {
  LS_CHECK(range >= 0 && range < kTokenRanges, "the ring has so many ranges");
  constexpr uint64_t kTokens = std::numeric_limits<uint64_t>::max() / kTokenRanges + 1;
  // No token is the smallest number; the range begins behind it.
  const auto begin =
      static_cast<int64_t>(static_cast<uint64_t>(range) * kTokens + (uint64_t{1} << 63));
  after_ = CqlBigint(begin);
  until_ = CqlBigint(range + 1 == kTokenRanges
                         ? std::numeric_limits<int64_t>::max()
                         : static_cast<int64_t>(static_cast<uint64_t>(begin) + kTokens));
  paging_state_.clear();
  at_end_ = false;
}

absl::StatusOr<bool> TableReader::Next() {
  if (at_end_) return false;
  const std::string_view values[] = {after_, until_};
  CqlRows& rows = page_.rows();
  LS_RETURN_IF_ERROR(client_->Execute("SELECT of " + table_->ShownName(), statement_, values,
                                      {.skip_metadata = true,
                                       .page_size = page_rows_,
                                       .paging_state = paging_state_,
                                       .consistency = consistency_},
                                      &rows));
  const size_t columns = page_.layout().columns;
  if (rows.size() > 0 && rows.columns() != columns) {
    return absl::InvalidArgumentError(absl::StrCat(client_->server(), ": SELECT of ",
                                                   table_->ShownName(), ": ", rows.columns(),
                                                   " columns came, not ", columns));
  }
  paging_state_ = rows.paging_state();
  at_end_ = paging_state_.empty();
  return true;
}

}  // namespace liststore
