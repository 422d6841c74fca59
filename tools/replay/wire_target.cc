#include "tools/replay/wire_target.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "engine/base/seconds.h"
#include "engine/base/status_macros.h"
#include "engine/base/strings.h"
#include "liststore/item_key.h"
#include "programs/client/list_model.h"
#include "programs/console/text.h"

namespace liststore {
namespace {

constexpr int64_t kTtlSecondsMax = 630'720'000;  // CQL's own limit, 20 years
constexpr size_t kBatchStatementsMax = 65'535;   // the count in a BATCH is a [short]

std::string FeatureKey(const ListId& list, std::string_view version) {
  return absl::StrCat(ToAbsl(list.entity_type), "#", ToAbsl(list.feature), "|", ToAbsl(version));
}
std::string FeatureKey(const ListId& list) { return FeatureKey(list, list.version); }

// max(0, floor((timestamp + TTL - now) / 1 s)): a naive rendering of the list store's rule.
int64_t SecondsLeft(uint64_t timestamp_nanos, int64_t ttl_seconds, uint64_t now_nanos) {
  const auto left = static_cast<__int128>(timestamp_nanos) +
                    static_cast<__int128>(ttl_seconds) * kNanosPerSecond - now_nanos;
  return left < 0 ? 0 : static_cast<int64_t>(left / static_cast<__int128>(kNanosPerSecond));
}

}  // namespace

absl::StatusOr<std::unique_ptr<WireTarget>> WireTarget::Open(std::string_view server,
                                                             const ClientTlsOptions& tls,
                                                             uint64_t first_at_nanos) {
  LS_ASSIGN_OR_RETURN(std::unique_ptr<CqlClient> client, CqlClient::Connect(server, {}, tls));
  std::unique_ptr<WireTarget> target(new WireTarget(std::move(client)));
  LS_RETURN_IF_ERROR(target->CheckClock(first_at_nanos));
  for (const std::string& statement : ListModelSchema()) {
    LS_RETURN_IF_ERROR(target->client_->Query(statement).status());
  }
  LS_RETURN_IF_ERROR(target->Prepare());
  LS_RETURN_IF_ERROR(target->MoveClock(first_at_nanos));
  LS_ASSIGN_OR_RETURN(const CqlRows rows,
                      target->client_->Query("SELECT item_key FROM feature_store.list_items LIMIT "
                                             "1"));
  if (rows.size() == 0) return target;
  return absl::FailedPreconditionError(absl::StrCat(
      target->server(), ": feature_store.list_items holds items; a replay needs it empty"));
}

absl::Status WireTarget::CheckClock(uint64_t first_at_nanos) {
  const absl::StatusOr<CqlRows> rows =
      client_->Query("SELECT mode, now_nanos FROM liststore.clock WHERE key = 'clock'");
  if (!rows.ok() && !absl::IsInvalidArgument(rows.status())) return rows.status();
  if (!rows.ok() || rows->size() != 1 || rows->columns() != 2) {
    return absl::FailedPreconditionError(
        absl::StrCat(server(),
                     ": no clock that can be moved; a replay needs a server started by "
                     "'liststore serve --clock manual:0'"));
  }
  if (rows->at(0, 0) != "manual") {
    return absl::FailedPreconditionError(
        absl::StrCat(server(),
                     ": the server's clock is the machine's; a replay moves it: start "
                     "the server with --clock manual:0"));
  }
  now_nanos_ = static_cast<uint64_t>(rows->Integer(0, 1));
  if (now_nanos_ <= first_at_nanos) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      server(), ": the server's clock stands at ", UtcTime(now_nanos_), ", the log begins at ",
      UtcTime(first_at_nanos), ", and time never goes back: start the server with --clock manual:",
      first_at_nanos / kNanosPerSecond, ", or any second before"));
}

absl::Status WireTarget::Prepare() {
  const auto prepare = [this](std::string_view text, std::string* id) {
    absl::StatusOr<std::string> prepared = client_->Prepare(text);
    if (prepared.ok()) *id = *std::move(prepared);
    return prepared.status();
  };
  LS_RETURN_IF_ERROR(
      prepare("UPDATE liststore.clock SET now_nanos = ? WHERE key = 'clock'", &move_clock_));
  LS_RETURN_IF_ERROR(prepare(kInsertItemStatement, &insert_));
  LS_RETURN_IF_ERROR(prepare(kSelectItemsStatement, &select_));
  LS_RETURN_IF_ERROR(prepare(
      "SELECT item_key FROM feature_store.list_items WHERE feature_key = ? AND entity_id = ? AND "
      "value = ?",
      &select_by_value_));
  LS_RETURN_IF_ERROR(prepare(
      "SELECT COUNT(*) FROM feature_store.list_items WHERE feature_key = ? AND entity_id = ?",
      &count_));
  LS_RETURN_IF_ERROR(
      prepare("DELETE FROM feature_store.list_items WHERE feature_key = ? AND entity_id = ?",
              &delete_all_));
  std::string markers;
  for (std::string& statement : delete_keys_) {
    absl::StrAppend(&markers, markers.empty() ? "?" : ", ?");
    LS_RETURN_IF_ERROR(prepare(
        absl::StrCat("DELETE FROM feature_store.list_items WHERE feature_key = ? AND entity_id = ? "
                     "AND item_key IN (",
                     markers, ")"),
        &statement));
  }
  return absl::OkStatus();
}

absl::Status WireTarget::MoveClock(uint64_t now_nanos) {
  if (now_nanos == now_nanos_) return absl::OkStatus();
  if (now_nanos > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the instant ", now_nanos, " lies behind the year 2262: a server cannot be moved to it"));
  }
  const std::string now = CqlBigint(static_cast<int64_t>(now_nanos));
  const std::string_view values[] = {now};
  CqlRows none;
  LS_RETURN_IF_ERROR(client_->Execute("moving the clock", move_clock_, values, {}, &none));
  now_nanos_ = now_nanos;
  return absl::OkStatus();
}

absl::Status WireTarget::CreateFeature(const Operation& operation) {
  const std::string unversioned = FeatureKey(operation.list, "");
  // A feature that a version brings with it has that version's TTL.
  ttl_seconds_.try_emplace(unversioned, operation.ttl_seconds);
  ttl_seconds_[FeatureKey(operation.list)] = operation.ttl_seconds;
  return absl::OkStatus();
}

absl::StatusOr<AddResult> WireTarget::Add(const Operation& operation) {
  const std::string feature_key = FeatureKey(operation.list);
  const auto ttl = ttl_seconds_.find(feature_key);
  if (ttl == ttl_seconds_.end()) {
    return absl::NotFoundError(
        absl::StrCat("no list feature version with the key '", feature_key, "'"));
  }
  struct Item {
    std::string item_key;
    std::string ttl;
    std::string_view value;
  };
  std::vector<Item> items;
  items.reserve(operation.items.size());
  for (const NewItem& item : operation.items) {
    const int64_t left = SecondsLeft(item.timestamp_nanos, ttl->second, now_nanos_);
    if (left > kTtlSecondsMax) {
      return absl::InvalidArgumentError(
          absl::StrCat("remaining time of ", left, " s exceeds ", kTtlSecondsMax));
    }
    LS_ASSIGN_OR_RETURN(std::string item_key, MakeItemKey(item.timestamp_nanos, item.value));
    // Never sent as TTL 0: to CQL, that means "forever".
    if (left == 0) continue;
    items.push_back({std::move(item_key), CqlInt(static_cast<int32_t>(left)), item.value});
  }
  if (items.size() > kBatchStatementsMax) {
    return absl::InvalidArgumentError(
        absl::StrCat(items.size(), " items exceed ", kBatchStatementsMax, ", what a BATCH holds"));
  }
  std::vector<std::array<std::string_view, 5>> values;
  std::vector<CqlRequests::Execution> executions;
  values.reserve(items.size());
  for (const Item& item : items) {
    values.push_back({feature_key, operation.list.entity_id, item.item_key, item.value, item.ttl});
    executions.push_back({insert_, values.back()});
  }
  if (!items.empty()) {
    LS_RETURN_IF_ERROR(client_->Batch("BATCH of INSERT", executions, std::nullopt));
  }
  return AddResult{.stored = items.size(),
                   .skipped_expired = operation.items.size() - items.size()};
}

absl::Status WireTarget::Get(const Operation& operation) {
  const std::string feature_key = FeatureKey(operation.list);
  const std::string bound = absl::StrFormat("%019d", operation.min_timestamp_nanos);
  const std::string limit = CqlInt(static_cast<int32_t>(
      std::min<size_t>(operation.limit, static_cast<size_t>(std::numeric_limits<int32_t>::max()))));
  const std::string_view values[] = {feature_key, operation.list.entity_id, bound, limit};
  LS_RETURN_IF_ERROR(
      client_->Execute("SELECT of a list", select_, values, {.skip_metadata = true}, &items_));
  if (items_.size() == 0 || items_.columns() == 2) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(server(), ": SELECT of a list: ", items_.columns(), " columns came, not 2"));
}

absl::StatusOr<size_t> WireTarget::RemoveValue(const Operation& operation) {
  const std::string feature_key = FeatureKey(operation.list);
  const std::string_view entity_id = operation.list.entity_id;
  const std::string_view values[] = {feature_key, entity_id, operation.value};
  CqlRows rows;
  LS_RETURN_IF_ERROR(client_->Execute("SELECT by value", select_by_value_, values,
                                      {.skip_metadata = true}, &rows));
  std::vector<std::string_view> keys;
  for (size_t row = 0; row < rows.size(); ++row) {
    keys.push_back(rows.at(row, 0));
    if (keys.size() < kKeysPerDelete && row + 1 < rows.size()) continue;
    LS_RETURN_IF_ERROR(Delete(feature_key, entity_id, keys));
    keys.clear();
  }
  return rows.size();
}

absl::Status WireTarget::Delete(std::string_view feature_key, std::string_view entity_id,
                                const std::vector<std::string_view>& keys) {
  std::vector<std::string_view> values = {feature_key, entity_id};
  values.insert(values.end(), keys.begin(), keys.end());
  CqlRows none;
  return client_->Execute("DELETE of items", delete_keys_[keys.size() - 1], values, {}, &none);
}

absl::StatusOr<size_t> WireTarget::RemoveAll(const Operation& operation) {
  const std::string feature_key = FeatureKey(operation.list);
  const std::string_view values[] = {feature_key, operation.list.entity_id};
  CqlRows rows;
  LS_RETURN_IF_ERROR(client_->Execute("COUNT of a list", count_, values, {}, &rows));
  const auto live = static_cast<size_t>(rows.size() == 1 ? rows.Integer(0, 0) : 0);
  LS_RETURN_IF_ERROR(client_->Execute("DELETE of a list", delete_all_, values, {}, &rows));
  return live;
}

absl::StatusOr<uint64_t> WireTarget::CountLive(BusiestList* /*busiest*/) {
  LS_ASSIGN_OR_RETURN(const CqlRows rows,
                      client_->Query("SELECT COUNT(*) FROM feature_store.list_items"));
  return static_cast<uint64_t>(rows.size() == 1 ? rows.Integer(0, 0) : 0);
}

}  // namespace liststore
