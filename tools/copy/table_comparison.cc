#include "tools/copy/table_comparison.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/base/big_endian.h"
#include "engine/base/check.h"
#include "engine/base/hash.h"
#include "engine/cql/syntax/expression.h"
#include "engine/cql/syntax/parser.h"
#include "engine/model/clustering_encoding.h"
#include "programs/client/cql_client.h"
#include "programs/console/text.h"

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

// Of a clustering column, or of the keys of a set or map, where there are numbers in it that have
// several forms. Those within user types are compared as they are: the types are not known here.
std::optional<DataType> KeyTypeOf(const RemoteColumn& column) {
  using Parts = RemoteColumn::Parts;
  const bool of_elements = column.parts == Parts::kSet || column.parts == Parts::kMap;
  if (!of_elements && column.kind != RemoteColumn::Kind::kClustering) return std::nullopt;
  const cql::CqlOr<cql::TypeSpec> spec = cql::ParseType(column.type);
  if (!spec.ok()) return std::nullopt;
  cql::CqlOr<DataType> type = cql::ToDataType(*spec, "");
  if (!type.ok()) return std::nullopt;
  DataType key = of_elements ? type->parameters()[0] : *std::move(type);
  if (!key.Contains(CqlType::kDecimal) && !key.Contains(CqlType::kVarint)) return std::nullopt;
  return key;
}

// Of values that servers take for one and the same always the same.
std::string SimplestForm(std::string_view value, const std::optional<DataType>& type) {
  if (!type || !type->IsValid(value)) return std::string(value);
  const std::vector<ClusteringColumnSchema> columns = {{.name = "", .type = *type}};
  std::string encoded;
  AppendClusteringKey(columns, {{value}}, encoded);
  return std::move(DecodeClusteringKey(columns, encoded)[0]);
}

}  // namespace

TableComparison::TableComparison(const RemoteTable& table, const RowLayout& source,
                                 const RowLayout& target, Ttls ttls)
    : table_(table), ttls_(ttls), keys_(source.keys) {
  for (size_t i = 0; i < source.cells.size(); ++i) {
    compares_times_.push_back(source.cells[i].timestamp && target.cells[i].timestamp);
  }
  for (const RemoteColumn& column : table.columns) key_types_.push_back(KeyTypeOf(column));
}

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
    const std::string value = SimplestForm(page.key(row, i), key_types_[i]);
    bytes += CqlInt(static_cast<int32_t>(value.size())) + value;
  }
  return bytes;
}

void TableComparison::TakeElements(const RemoteRows& page, size_t row, size_t cell,
                                   int64_t tolerance_seconds, std::vector<Cell>& taken) const {
  using Parts = RemoteColumn::Parts;
  const RemoteColumn& column = table_.columns[keys_ + cell];
  const auto begin = static_cast<std::ptrdiff_t>(taken.size());
  for (const RemoteElement& element : page.elements(row, cell)) {
    taken.push_back(
        {.column = cell,
         .key = column.parts == Parts::kList ? ""
                : column.parts == Parts::kFields
                    ? column.fields[element.number]
                    : SimplestForm(element.key, key_types_[keys_ + cell]),
         .ends_soon = element.ttl_seconds > 0 && element.ttl_seconds <= tolerance_seconds,
         .value_hash = column.parts == Parts::kSet ? 0 : Hash64(element.value),
         .timestamp_micros = element.timestamp_micros,
         .ttl_seconds = element.ttl_seconds});
  }
  if (column.parts != Parts::kList)
    std::ranges::sort(taken.begin() + begin, taken.end(), {}, &Cell::key);
}

TableComparison::Row TableComparison::Taken(const RemoteRows& page, size_t row, bool is_static,
                                            int64_t tolerance_seconds) const {
  Row taken;
  taken.shown_key = ShownKey(page, row, is_static);
  taken.is_static = is_static;
  const size_t end = is_static ? page.statics() : page.cells();
  for (size_t i = is_static ? 0 : page.statics(); i < end; ++i) {
    if (!compares_times_[i]) {
      const std::optional<std::string_view> value = page.value(row, i);
      if (value) taken.cells.push_back({.column = i, .value_hash = Hash64(*value)});
      continue;
    }
    if (page.has_parts(i)) {
      TakeElements(page, row, i, tolerance_seconds, taken.cells);
      continue;
    }
    const RemoteCell cell = page.cell(row, i);
    if (!cell.present) continue;
    taken.cells.push_back(
        {.column = i,
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
    if (statics.cells.empty()) continue;
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
                                        int64_t tolerance_seconds) const {
  if (source.value_hash != target.value_hash) return "another value";
  if (source.timestamp_micros != target.timestamp_micros) return "another timestamp";
  if (ttls_ == Ttls::kLeftOut) return nullptr;
  if ((source.ttl_seconds == 0) != (target.ttl_seconds == 0)) return "a TTL on one side only";
  return std::abs(int64_t{source.ttl_seconds} - target.ttl_seconds) > tolerance_seconds
             ? "another TTL"
             : nullptr;
}

bool TableComparison::IsOfList(const Cell& cell) const {
  return compares_times_[cell.column] &&
         table_.columns[keys_ + cell.column].parts == RemoteColumn::Parts::kList;
}

std::string TableComparison::Told(const Cell& cell, const char* difference) const {
  const RemoteColumn& column = table_.columns[keys_ + cell.column];
  const bool is_part = column.parts != RemoteColumn::Parts::kNone && compares_times_[cell.column];
  return column.name + (is_part ? ", an element: " : ": ") + difference;
}

void TableComparison::Match(const std::string& key, Row& source, Row& target,
                            int64_t tolerance_seconds) {
  const auto place = [](const Cell& cell) { return std::tie(cell.column, cell.key); };
  const auto is_same = [](const Cell& one, const Cell& other) {
    return one.value_hash == other.value_hash && one.timestamp_micros == other.timestamp_micros;
  };
  std::string how;
  const auto differs = [&](const Cell& cell, const char* difference) {
    if (difference != nullptr && how.empty()) how = Told(cell, difference);
  };
  std::vector<Cell> ours, theirs;  // those that count
  auto one = source.cells.begin(), other = target.cells.begin();
  while (one != source.cells.end() || other != target.cells.end()) {
    const bool both = one != source.cells.end() && other != target.cells.end();
    bool takes_one = other == target.cells.end() || (both && place(*one) <= place(*other));
    bool takes_other = one == source.cells.end() || (both && place(*other) <= place(*one));
    // Of lists the elements have no names: one that ends soon may be over on the other side.
    if (takes_one && takes_other && IsOfList(*one) && !is_same(*one, *other) &&
        one->ends_soon != other->ends_soon) {
      takes_one = one->ends_soon;
      takes_other = !takes_one;
    }
    if (takes_one && takes_other) {
      if (!one->ends_soon && !other->ends_soon) {
        differs(*one, Difference(*one, *other, tolerance_seconds));
        ours.push_back(*one);
        theirs.push_back(*other);
      }
    } else if (takes_one && !one->ends_soon) {
      differs(*one, "missing at the target");
      ours.push_back(*one);
    } else if (takes_other && !other->ends_soon) {
      differs(*other, "at the target only");
      theirs.push_back(*other);
    }
    if (takes_one) ++one;
    if (takes_other) ++other;
  }
  source.cells = std::move(ours);
  target.cells = std::move(theirs);
  Count(kSource, key, source);
  Count(kTarget, key, target);
  if (!how.empty()) Differs(source, how);
}

void TableComparison::EndOfRange() {
  for (const Side side : {kSource, kTarget}) {
    for (const auto& [key, row] : waiting_[side]) {
      const bool is_over = !row.cells.empty() && std::ranges::all_of(row.cells, &Cell::ends_soon);
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
    bytes += CqlInt(static_cast<int32_t>(cell.column));
    bytes += CqlInt(static_cast<int32_t>(cell.key.size())) + cell.key;
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
