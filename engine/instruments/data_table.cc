#include "engine/instruments/data_table.h"

#include <algorithm>
#include <new>
#include <string>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/ascii.h"
#include "engine/base/check.h"
#include "engine/base/strings.h"
#include "engine/cql/schema/computed_table.h"
#include "engine/cql/values/encode_value.h"

namespace liststore::instruments {
namespace {

constexpr char kDataKey[] = "data";

constexpr cql::TableSpec kDataSpec = {
    "liststore",
    "data",
    "key text",
    "",
    "action text, baseline timestamp, bytes bigint, keyspaces int, "
    "rows bigint, tables int",
    "what is stored, and the baseline that it can be reset to"};

cql::CqlError RefuseData(std::string_view why) {
  return cql::CqlError::Invalid(std::string("liststore.data: ").append(why));
}

// The action that a statement asks for.
cql::CqlOr<std::string> ActionIn(const cql::VirtualTable::Values& values) {
  std::optional<std::string> action;
  for (const auto& [column, value] : values) {
    if (column == "key") {
      if (value != kDataKey) return RefuseData("the only key is 'data'");
    } else if (column == "action") {
      if (!value) return RefuseData("action cannot be null");
      action = absl::AsciiStrToLower(ToAbsl(*value));
    } else {
      return RefuseData(column + " is counted, and cannot be written");
    }
  }
  if (!action) return RefuseData("set the action: 'mark', 'reset' or 'forget'");
  return *std::move(action);
}

bool HasDataOfUsers(const Schema& schema) {
  return std::ranges::any_of(schema.keyspaces,
                             [](const auto& entry) { return !entry.second->is_system(); });
}

}  // namespace

DataTable::DataTable(shard::Engine& engine, ServerClock& clock, DataTableOptions options)
    : engine_(engine),
      clock_(clock),
      options_(std::move(options)),
      start_setting_(clock.setting()),
      start_nanos_(clock.NowNanos()),
      began_with_data_(HasDataOfUsers(*engine.catalog().snapshot())),
      definition_(cql::MakeVirtualDefinition(kDataSpec)),
      baseline_(engine, options_.journal) {}

DataTable::~DataTable() = default;

std::vector<cql::VirtualRow> DataTable::Rows(const cql::VirtualReadContext& context) const {
  int32_t keyspaces = 0;
  int32_t tables = 0;
  uint64_t rows_stored = 0;
  uint64_t bytes = 0;
  const MutexLock lock(mutex_);
  for (const auto& [name, keyspace] : context.schema.keyspaces) {
    if (keyspace->is_system()) continue;
    ++keyspaces;
    for (const auto& [table_name, table] : keyspace->tables) {
      if (table->is_virtual) continue;
      ++tables;
      const storage::TableStats stats = engine_.StatsOf(table->storage.id);
      rows_stored += stats.rows;
      bytes += stats.live_bytes;
    }
  }
  cql::RowCollector rows(*definition_);
  rows.Row()
      .Set("key", kDataKey)
      .Set("keyspaces", cql::EncodeInt(keyspaces))
      .Set("tables", cql::EncodeInt(tables))
      .Set("rows", cql::EncodeBigint(static_cast<int64_t>(rows_stored)))
      .Set("bytes", cql::EncodeBigint(static_cast<int64_t>(bytes)));
  if (const auto marked = baseline_.marked_nanos())
    rows.Set("baseline", cql::EncodeTimestamp(*marked));
  return rows.Take();
}

std::optional<cql::CqlError> DataTable::Write(const Values& values) {
  const cql::CqlOr<std::string> action = ActionIn(values);
  if (!action.ok()) return action.error();
  if (*action != "mark" && *action != "reset" && *action != "forget") {
    return RefuseData("there is no action '" + *action + "', only 'mark', 'reset' and 'forget'");
  }
  if (options_.serves_list_store) {
    return RefuseData("'" + *action +
                      "' is not for a server of a list store, whose data belongs to the program");
  }
  if (*action == "mark") return Mark();
  if (*action == "reset") return Reset();
  const MutexLock lock(mutex_);
  baseline_.Forget();
  for (Resettable* part : resettables_) part->Forget();
  return std::nullopt;
}

cql::CqlError DataTable::Refusal(std::string_view action, OpStatus status) const {
  std::string why = "liststore.data: '";
  why.append(action).append("' was refused");
  if (status == OpStatus::kNotKept) {
    why += ", and " + options_.journal->Refusal();
    return cql::CqlError::Server(std::move(why));
  }
  LS_CHECK(status == OpStatus::kOutOfMemory, "a baseline has two reasons to fail");
  why += " and has changed nothing: ";
  const MemoryRefusal refusal = engine_.memory_refusal();
  why += refusal.machine_bytes == 0 ? "the heap has no memory for it" : refusal.Text();
  return cql::CqlError::Server(std::move(why));
}

std::optional<cql::CqlError> DataTable::Mark() {
  const MutexLock lock(mutex_);
  const OpStatus status = baseline_.Mark([this] { return clock_.NowNanos(); });
  if (status != OpStatus::kOk) return Refusal("mark", status);
  marked_setting_ = clock_.setting();
  for (Resettable* part : resettables_) part->Mark();
  return std::nullopt;
}

std::optional<cql::CqlError> DataTable::Reset() {
  const MutexLock lock(mutex_);
  if (options_.keeps_what_it_began_with && began_with_data_ && !baseline_.marked_nanos()) {
    return RefuseData(
        "'reset' has no mark to go back to, and would empty what is kept in the data directory: "
        "marks end with the server; set one first, or empty tables by TRUNCATE and DROP");
  }
  const ServerClock::Setting setting = baseline_.marked_nanos() ? marked_setting_ : start_setting_;
  const uint64_t now_nanos = setting.mode == ServerClock::Mode::kReal
                                 ? clock_.MachineNanos()
                                 : baseline_.marked_nanos().value_or(start_nanos_);
  std::vector<SchemaDifference> differences;
  const auto set_clock = [&] { return clock_.ResetTo(setting, now_nanos); };
  const OpStatus status = baseline_.Reset(now_nanos, set_clock, differences);
  if (status != OpStatus::kOk) return Refusal("reset", status);
  absl::Cleanup lose_changes = [&] {
    if (!differences.empty() && options_.on_lost_schema_change) options_.on_lost_schema_change();
  };
  // What can go back does, whatever the heap refuses to the others.
  bool heap_refuses = false;
  for (Resettable* part : resettables_) {
    try {
      part->Reset();
    } catch (const std::bad_alloc&) {
      heap_refuses = true;
    }
  }
  if (!differences.empty() && options_.on_schema_change) options_.on_schema_change(differences);
  std::move(lose_changes).Cancel();
  if (heap_refuses) throw std::bad_alloc();
  return std::nullopt;
}

}  // namespace liststore::instruments
