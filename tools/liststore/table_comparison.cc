#include "tools/liststore/table_comparison.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/base/big_endian.h"
#include "engine/base/check.h"
#include "engine/base/hash.h"
#include "engine/model/decimal.h"
#include "tools/liststore/cql_client.h"
#include "tools/liststore/text.h"

namespace liststore {
namespace {

constexpr size_t kShownColumns = 60;  // of a key's value

std::string ShownValue(std::string_view value, std::string_view type) {
  if (type == "text" || type == "varchar" || type == "ascii") {
    return "'" + Printable(value, kShownColumns) + "'";
  }
  if (value.size() == 4 && type == "int") {
    return absl::StrCat(static_cast<int32_t>(LoadBigEndian32(value.data())));
  }
  if (value.size() == 8 && (type == "bigint" || type == "timestamp")) {
    return absl::StrCat(static_cast<int64_t>(LoadBigEndian64(value.data())));
  }
  std::string hex = "0x";
  for (const char byte : value.substr(0, kShownColumns / 2)) {
    absl::StrAppend(&hex, absl::Hex(static_cast<unsigned char>(byte), absl::kZeroPad2));
  }
  return hex + (value.size() > kShownColumns / 2 ? "…" : "");
}

}  // namespace

std::string TableComparison::ShownKey(const RemoteRows& page, size_t row, bool is_static) const {
  const size_t columns = is_static ? page.partition_keys() : page.keys();
  std::string text = is_static ? "partition " : "row ";
  for (size_t i = 0; i < columns; ++i) {
    const RemoteColumn& column = table_.columns[i];
    absl::StrAppend(&text, i == 0 ? "" : ", ", column.name, "=",
                    ShownValue(page.key(row, i), column.type));
  }
  return text;
}

std::string TableComparison::MatchingKey(const RemoteRows& page, size_t row) const {
  std::string bytes = page.KeyBytes(row, page.partition_keys());
  for (size_t i = page.partition_keys(); i < page.keys(); ++i) {
    std::string value(page.key(row, i));
    if (table_.columns[i].type == "decimal" && value.size() >= kDecimalScaleBytes) {
      value = EncodeDecimal(NormalizeDecimal(value));
    } else if (table_.columns[i].type == "varint" && !value.empty()) {
      value = std::string(TrimVarint(value));
    }
    bytes += CqlInt(static_cast<int32_t>(value.size())) + value;
  }
  return bytes;
}

TableComparison::Row TableComparison::Taken(const RemoteRows& page, size_t row, bool is_static,
                                            int64_t tolerance_seconds) const {
  Row taken;
  taken.shown_key = ShownKey(page, row, is_static);
  taken.is_static = is_static;
  taken.first_cell = is_static ? 0 : page.statics();
  const size_t end = is_static ? page.statics() : page.cells();
  for (size_t i = taken.first_cell; i < end; ++i) {
    const RemoteCell cell = page.cell(row, i);
    taken.cells.push_back(
        {.present = cell.present,
         .ends_soon = cell.ttl_seconds > 0 && cell.ttl_seconds <= tolerance_seconds,
         .value_hash = Hash64(cell.value),
         .timestamp_micros = cell.timestamp_micros,
         .ttl_seconds = cell.ttl_seconds});
  }
  return taken;
}

void TableComparison::Add(Side side, const RemoteRows& page, int64_t tolerance_seconds) {
  for (size_t row = 0; row < page.size(); ++row) {
    if (page.is_row(row)) {
      AddRow(side, MatchingKey(page, row), Taken(page, row, false, tolerance_seconds),
             tolerance_seconds);
    }
    if (page.statics() == 0) continue;
    // They stand in every row of a partition.
    std::string partition = page.KeyBytes(row, page.partition_keys());
    if (partition == partition_[side]) continue;
    partition_[side] = std::move(partition);
    Row statics = Taken(page, row, true, tolerance_seconds);
    if (std::ranges::none_of(statics.cells, &Cell::present)) continue;
    AddRow(side, partition_[side], std::move(statics), tolerance_seconds);  // shorter than a row's
  }
}

void TableComparison::AddRow(Side side, const std::string& key, Row row,
                             int64_t tolerance_seconds) {
  const Side other = side == kSource ? kTarget : kSource;
  const auto counterpart = waiting_[other].find(key);
  if (counterpart == waiting_[other].end()) {
    waiting_[side].insert_or_assign(key, std::move(row));
    return;
  }
  Row& source = side == kSource ? row : counterpart->second;
  Row& target = side == kSource ? counterpart->second : row;
  Match(key, source, target, tolerance_seconds);
  waiting_[other].erase(counterpart);
}

const char* TableComparison::Difference(const Cell& source, const Cell& target,
                                        int64_t tolerance_seconds) {
  if (!source.present && !target.present) return nullptr;
  if (!target.present) return "missing at the target";
  if (!source.present) return "at the target only";
  if (source.value_hash != target.value_hash) return "another value";
  if (source.timestamp_micros != target.timestamp_micros) return "another timestamp";
  if ((source.ttl_seconds == 0) != (target.ttl_seconds == 0)) return "a TTL on one side only";
  return std::abs(int64_t{source.ttl_seconds} - target.ttl_seconds) > tolerance_seconds
             ? "another TTL"
             : nullptr;
}

void TableComparison::Match(const std::string& key, Row& source, Row& target,
                            int64_t tolerance_seconds) {
  LS_DCHECK(source.cells.size() == target.cells.size(), "both schemas are the same");
  std::string how;
  const size_t keys = table_.CountOf(RemoteColumn::Kind::kPartitionKey) +
                      table_.CountOf(RemoteColumn::Kind::kClustering);
  for (size_t i = 0; i < source.cells.size(); ++i) {
    Cell& one = source.cells[i];
    Cell& other = target.cells[i];
    if (one.ends_soon || other.ends_soon) {
      one = {};
      other = {};
      continue;
    }
    const char* const difference = Difference(one, other, tolerance_seconds);
    if (difference == nullptr || !how.empty()) continue;
    how = table_.columns[keys + source.first_cell + i].name + ": " + difference;
  }
  Count(kSource, key, source);
  Count(kTarget, key, target);
  if (!how.empty()) Differs(source, how);
}

void TableComparison::EndOfRange() {
  for (const Side side : {kSource, kTarget}) {
    for (const auto& [key, row] : waiting_[side]) {
      const bool is_over = std::ranges::any_of(row.cells, &Cell::ends_soon) &&
                           std::ranges::all_of(row.cells, [](const Cell& cell) {
                             return !cell.present || cell.ends_soon;
                           });
      if (is_over) continue;
      Count(side, key, row);
      Differs(row, side == kSource ? "missing at the target" : "at the target only");
    }
    waiting_[side].clear();
  }
}

void TableComparison::Count(Side side, const std::string& key, const Row& row) {
  std::string bytes = key;
  for (const Cell& cell : row.cells) {
    bytes += cell.present ? '\1' : '\0';
    if (!cell.present) continue;
    bytes += CqlBigint(static_cast<int64_t>(cell.value_hash));
    bytes += CqlBigint(cell.timestamp_micros);
  }
  if (!row.is_static) totals_[side].rows += 1;
  totals_[side].checksum += Hash64(bytes);
}

void TableComparison::Differs(const Row& row, const std::string& how) {
  ++rows_that_differ_;
  if (first_difference_.empty()) first_difference_ = row.shown_key + ": " + how;
}

}  // namespace liststore
