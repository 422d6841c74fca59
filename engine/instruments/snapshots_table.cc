#include "engine/instruments/snapshots_table.h"

#include <string_view>
#include <utility>

#include "absl/strings/match.h"
#include "engine/base/check.h"
#include "engine/base/strings.h"
#include "engine/cql/schema/computed_table.h"
#include "engine/cql/values/encode_value.h"

namespace liststore::instruments {
namespace {

constexpr std::string_view kKey = "snapshots";
constexpr cql::TableSpec kSpec = {
    "liststore",
    "snapshots",
    "key text",
    "",
    "action text, commit_log text, directory text, last_bytes bigint, "
    "last_number bigint, last_rows bigint, last_taken timestamp, "
    "log_bytes bigint",
    "where everything is kept, and the last snapshot"};

std::string CountText(uint64_t value) { return cql::EncodeBigint(static_cast<int64_t>(value)); }

cql::CqlError RefuseSnapshots(std::string_view why) {
  return cql::CqlError::Invalid(std::string("liststore.snapshots: ").append(why));
}

class SnapshotsTable final : public cql::VirtualTable {
 public:
  explicit SnapshotsTable(SnapshotCalls calls)
      : calls_(std::move(calls)), definition_(cql::MakeVirtualDefinition(kSpec)) {}

  const std::shared_ptr<const TableDefinition>& definition() const override { return definition_; }

  std::vector<cql::VirtualRow> Rows(const cql::VirtualReadContext& /*context*/) const override {
    cql::RowCollector rows(*definition_);
    if (!calls_.state) return rows.Take();
    SnapshotState state = calls_.state();
    cql::RowCollector& row = rows.Row();
    row.Set("key", std::string(kKey)).Set("directory", std::move(state.directory));
    row.Set("commit_log", std::move(state.commit_log)).Set("log_bytes", CountText(state.log_bytes));
    if (state.last_number != 0) {
      row.Set("last_number", CountText(state.last_number))
          .Set("last_rows", CountText(state.last_rows));
      row.Set("last_bytes", CountText(state.last_bytes));
      row.Set("last_taken", cql::EncodeTimestamp(state.last_nanos));
    }
    return rows.Take();
  }

  std::optional<cql::CqlError> Write(const Values& values) override {
    bool saves = false;
    for (const auto& [column, value] : values) {
      if (column == "key") {
        if (value != kKey) return RefuseSnapshots("the only key is 'snapshots'");
      } else if (column != "action") {
        return RefuseSnapshots(column + " is what there is, and cannot be changed");
      } else if (!value || !absl::EqualsIgnoreCase(ToAbsl(*value), "save")) {
        return RefuseSnapshots("there is no action but 'save'");
      } else {
        saves = true;
      }
    }
    if (!saves) return RefuseSnapshots("set action = 'save'");
    if (!calls_.take) {
      return RefuseSnapshots("nothing is kept: the server was started without --data-dir");
    }
    if (const auto why = calls_.take()) {
      return cql::CqlError::Server("liststore.snapshots: no snapshot was taken: " + *why);
    }
    return std::nullopt;
  }

  bool is_for_superusers() const override { return true; }
  bool WriteTakesLong(const Values& /*values*/) const override { return true; }

 private:
  const SnapshotCalls calls_;
  const std::shared_ptr<const TableDefinition> definition_;
};

}  // namespace

std::unique_ptr<cql::VirtualTable> MakeSnapshotsTable(SnapshotCalls calls) {
  return std::make_unique<SnapshotsTable>(std::move(calls));
}

}  // namespace liststore::instruments
