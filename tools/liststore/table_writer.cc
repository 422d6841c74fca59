#include "tools/liststore/table_writer.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/base/status_macros.h"
#include "engine/cql/identifier.h"

namespace liststore {
namespace {

using Kind = RemoteColumn::Kind;

constexpr size_t kSendBytes = size_t{256} << 10;

// "a = ?, b = ?" of the columns that `is_one` finds; of counters "a = a + ?, b = b + ?".
template <typename Predicate>
std::string Assignments(const RemoteTable& table, std::string_view separator, Predicate is_one) {
  std::string text;
  for (const RemoteColumn& column : table.columns) {
    if (!is_one(column.kind)) continue;
    const std::string name = QuoteIdentifier(column.name);
    if (!text.empty()) text += separator;
    text += name + " = " + (column.type == "counter" ? name + " + ?" : "?");
  }
  return text;
}

std::string UpdateStatement(const RemoteTable& table, std::string_view what, Kind kind) {
  const auto is_set = [kind](Kind one) { return one == kind; };
  const auto is_key = [kind](Kind one) {
    return one == Kind::kPartitionKey || (one == Kind::kClustering && kind == Kind::kRegular);
  };
  std::string text = "UPDATE " + table.QuotedName();
  text += what;
  text += " SET " + Assignments(table, ", ", is_set);
  return text + " WHERE " + Assignments(table, " AND ", is_key);
}

std::string InsertStatement(const RemoteTable& table, bool with_cells) {
  std::string names, markers;
  for (const RemoteColumn& column : table.columns) {
    const bool is_key = column.kind <= Kind::kClustering;
    if (!is_key && (!with_cells || column.kind == Kind::kStatic)) continue;
    absl::StrAppend(&names, names.empty() ? "" : ", ", QuoteIdentifier(column.name));
    absl::StrAppend(&markers, markers.empty() ? "?" : ", ?");
  }
  return absl::StrCat("INSERT INTO ", table.QuotedName(), " (", names, ") VALUES (", markers, ")");
}

}  // namespace

TableWriter::TableWriter(CqlClient& client, const RemoteTable& table, uint16_t consistency)
    : client_(&client), table_(&table), consistency_(consistency) {
  for (int16_t stream = 0; stream < kInFlight; ++stream) free_streams_.push_back(stream);
}

absl::StatusOr<TableWriter> TableWriter::Open(CqlClient& client, const RemoteTable& table,
                                              uint16_t consistency) {
  TableWriter writer(client, table, consistency);
  LS_RETURN_IF_ERROR(writer.Prepare());
  return writer;
}

absl::Status TableWriter::Prepare() {
  const auto prepare = [this](const std::string& text, std::string* id) {
    absl::StatusOr<std::string> prepared = client_->Prepare(text);
    if (prepared.ok()) *id = *std::move(prepared);
    return prepared.status();
  };
  const bool has_regular = table_->CountOf(Kind::kRegular) > 0;
  const bool has_static = table_->CountOf(Kind::kStatic) > 0;
  if (table_->is_counter()) {
    if (has_regular) {
      LS_RETURN_IF_ERROR(prepare(UpdateStatement(*table_, "", Kind::kRegular), &statements_.add));
    }
    if (!has_static) return absl::OkStatus();
    return prepare(UpdateStatement(*table_, "", Kind::kStatic), &statements_.add_static);
  }
  constexpr std::string_view kUsing = " USING TIMESTAMP ? AND TTL ?";
  LS_RETURN_IF_ERROR(
      prepare(absl::StrCat(InsertStatement(*table_, false), " USING TIMESTAMP ", kMarkerMicros),
              &statements_.insert_key));
  if (has_regular) {
    LS_RETURN_IF_ERROR(
        prepare(InsertStatement(*table_, true) + std::string(kUsing), &statements_.insert));
    LS_RETURN_IF_ERROR(
        prepare(UpdateStatement(*table_, kUsing, Kind::kRegular), &statements_.update));
  }
  if (!has_static) return absl::OkStatus();
  return prepare(UpdateStatement(*table_, kUsing, Kind::kStatic), &statements_.update_static);
}

absl::Status TableWriter::Write(const RemoteRows& page, size_t row) {
  const auto write = [&](bool is_static) {
    return table_->is_counter() ? AddCounters(page, row, is_static)
                                : WriteCells(page, row, is_static);
  };
  if (page.statics() > 0) {
    std::string partition = page.KeyBytes(row, page.partition_keys());
    if (partition != partition_) {
      partition_ = std::move(partition);
      LS_RETURN_IF_ERROR(write(true));
    }
  }
  return page.is_row(row) ? write(false) : absl::OkStatus();
}

void TableWriter::FindGroups(const RemoteRows& page, size_t row, size_t first, size_t end) {
  groups_.clear();
  for (size_t i = first; i < end; ++i) {
    const RemoteCell cell = page.cell(row, i);
    const CellGroup group{cell.timestamp_micros, cell.ttl_seconds};
    if (cell.present && std::ranges::find(groups_, group) == groups_.end()) {
      groups_.push_back(group);
    }
  }
  std::ranges::sort(groups_, {}, [](const CellGroup& group) {
    constexpr int64_t kForEver = std::numeric_limits<int32_t>::max();
    const int64_t lives = group.ttl_seconds == 0 ? kForEver : group.ttl_seconds;
    return std::pair(group.timestamp_micros, -lives);
  });
}

void TableWriter::AddKey(const RemoteRows& page, size_t row, size_t columns) {
  for (size_t i = 0; i < columns; ++i) values_.Add(page.key(row, i));
}

absl::Status TableWriter::WriteCells(const RemoteRows& page, size_t row, bool is_static) {
  const size_t first = is_static ? 0 : page.statics();
  const size_t end = is_static ? page.statics() : page.cells();
  FindGroups(page, row, first, end);
  const size_t keys = is_static ? page.partition_keys() : page.keys();
  if (groups_.empty() && !is_static) {
    values_.Clear();
    AddKey(page, row, keys);
    return Send(statements_.insert_key);
  }
  for (const CellGroup& group : groups_) {
    const bool inserts = !is_static && group == groups_.front();
    const std::string timestamp = CqlBigint(group.timestamp_micros);
    const std::string ttl = CqlInt(group.ttl_seconds);
    values_.Clear();
    // The markers of INSERT: key, cells, USING; of UPDATE: USING, cells, key.
    if (inserts) {
      AddKey(page, row, keys);
    } else {
      values_.Add(timestamp);
      values_.Add(ttl);
    }
    for (size_t i = first; i < end; ++i) {
      const RemoteCell cell = page.cell(row, i);
      if (cell.present && group == CellGroup{cell.timestamp_micros, cell.ttl_seconds}) {
        values_.Add(cell.value);
      } else {
        values_.AddUnset();
      }
    }
    if (inserts) {
      values_.Add(timestamp);
      values_.Add(ttl);
    } else {
      AddKey(page, row, keys);
    }
    LS_RETURN_IF_ERROR(Send(is_static ? statements_.update_static
                            : inserts ? statements_.insert
                                      : statements_.update));
  }
  return absl::OkStatus();
}

absl::Status TableWriter::AddCounters(const RemoteRows& page, size_t row, bool is_static) {
  values_.Clear();
  bool any = false;
  for (size_t i = is_static ? 0 : page.statics(); i < (is_static ? page.statics() : page.cells());
       ++i) {
    const RemoteCell cell = page.cell(row, i);
    any = any || cell.present;
    if (cell.present) {
      values_.Add(cell.value);
    } else {
      values_.AddUnset();
    }
  }
  if (!any) return absl::OkStatus();
  AddKey(page, row, is_static ? page.partition_keys() : page.keys());
  return Send(is_static ? statements_.add_static : statements_.add);
}

absl::Status TableWriter::Send(const std::string& statement) {
  if (free_streams_.empty()) LS_RETURN_IF_ERROR(Await(kInFlight / 2));
  client_->requests().Execute(free_streams_.back(), statement, values_,
                              {.consistency = consistency_});
  free_streams_.pop_back();
  return client_->requests().view().size() < kSendBytes ? absl::OkStatus() : client_->Send();
}

absl::Status TableWriter::Flush() { return Await(0); }

absl::Status TableWriter::Await(size_t left) {
  LS_RETURN_IF_ERROR(client_->Send());
  while (kInFlight - free_streams_.size() > left) {
    CqlReply reply;
    while (client_->Take(&reply)) {
      LS_RETURN_IF_ERROR(client_->ErrorIn(reply, "writing to " + table_->ShownName()));
      free_streams_.push_back(reply.stream);
    }
    if (kInFlight - free_streams_.size() > left) LS_RETURN_IF_ERROR(client_->Receive());
  }
  return absl::OkStatus();
}

}  // namespace liststore
