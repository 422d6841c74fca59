#include "tools/liststore/table_reader.h"

#include <limits>

#include "absl/strings/str_cat.h"
#include "engine/base/check.h"
#include "engine/base/status_macros.h"
#include "engine/base/strings.h"
#include "engine/cql/identifier.h"

namespace liststore {
namespace {

using Kind = RemoteColumn::Kind;

std::string SelectStatement(const RemoteTable& table) {
  std::string names, timestamps, ttls, partition_key;
  for (const RemoteColumn& column : table.columns) {
    const std::string name = QuoteIdentifier(column.name);
    absl::StrAppend(&names, names.empty() ? "" : ", ", name);
    if (column.kind == Kind::kPartitionKey) {
      absl::StrAppend(&partition_key, partition_key.empty() ? "" : ", ", name);
    }
    if (column.kind <= Kind::kClustering || table.is_counter()) continue;
    absl::StrAppend(&timestamps, ", WRITETIME(", name, ")");
    absl::StrAppend(&ttls, ", TTL(", name, ")");
  }
  const std::string token = "token(" + partition_key + ")";
  return absl::StrCat("SELECT ", names, timestamps, ttls, " FROM ", table.QuotedName(), " WHERE ",
                      token, " > ? AND ", token, " <= ?");
}

}  // namespace

RemoteRows::RemoteRows(const RemoteTable& table)
    : partition_keys_(table.CountOf(Kind::kPartitionKey)),
      keys_(partition_keys_ + table.CountOf(Kind::kClustering)),
      statics_(table.CountOf(Kind::kStatic)),
      cells_(statics_ + table.CountOf(Kind::kRegular)),
      counter_(table.is_counter()) {}

RemoteCell RemoteRows::cell(size_t row, size_t cell) const {
  const size_t column = keys_ + cell;
  if (rows_.is_null(row, column)) return {};
  if (counter_) return {.present = true, .value = rows_.at(row, column)};
  const size_t ttl = column + 2 * cells_;
  RemoteCell result{.present = true,
                    .value = rows_.at(row, column),
                    .timestamp_micros = rows_.Integer(row, column + cells_)};
  if (rows_.is_null(row, ttl)) return result;
  result.ttl_seconds = static_cast<int32_t>(rows_.Integer(row, ttl));
  if (result.ttl_seconds <= 0) return {};  // to write it with 0 would be for ever
  return result;
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
                                              int32_t page_rows, uint16_t consistency) {
  TableReader reader(client, table, page_rows, consistency);
  LS_ASSIGN_OR_RETURN(reader.statement_, client.Prepare(SelectStatement(table)));
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
  const size_t columns = page_.keys() + page_.cells() * (table_->is_counter() ? 1 : 3);
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
