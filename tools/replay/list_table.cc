#include "tools/replay/list_table.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_format.h"
#include "engine/base/check.h"
#include "engine/base/seconds.h"
#include "engine/base/status_macros.h"
#include "programs/console/terminal.h"
#include "programs/console/text.h"

namespace liststore {
namespace {

constexpr size_t kValueColumns = 56;

// Of an item that is alive.
std::string TimeLeft(const ListItemView& item, uint64_t now_nanos) {
  if (item.expires_at_seconds == 0) return "never ends";
  const uint64_t now_seconds = now_nanos / 1'000'000'000;
  const uint64_t expiry_seconds = static_cast<uint64_t>(item.expires_at_seconds);
  LS_CHECK(expiry_seconds > now_seconds, "a read returns only what is alive");
  return DurationText(expiry_seconds - now_seconds);
}

void PrintRows(const ListItems& items, uint64_t now_nanos, std::FILE* out) {
  size_t time_columns = 0, value_columns = 5;
  for (const ListItemView item : items) {
    time_columns = std::max(time_columns, UtcTime(item.timestamp_nanos).size());
    value_columns = std::max(value_columns, Columns(Printable(item.value, kValueColumns)));
  }
  const Style style(out);
  absl::FPrintF(out, "  %s\n",
                style.Dim(Padded("time (UTC)", time_columns) + "  " +
                          Padded("value", value_columns) + "  time left"));
  for (const ListItemView item : items) {
    absl::FPrintF(out, "  %s  %s  %s\n", Padded(UtcTime(item.timestamp_nanos), time_columns),
                  Padded(Printable(item.value, kValueColumns), value_columns),
                  TimeLeft(item, now_nanos));
  }
}

}  // namespace

absl::Status PrintList(const ListStore& store, const ListId& list, uint64_t now_nanos,
                       size_t rows_max, std::FILE* out) {
  LS_ASSIGN_OR_RETURN(const size_t live, store.CountListItems(list));
  const Style style(out);
  absl::FPrintF(out, "%s, %s at %s\n", style.Bold(ListName(list)),
                live == 1 ? "1 item" : Grouped(live) + " items", UtcTime(now_nanos));
  if (live == 0) return absl::OkStatus();
  ListItems items;
  LS_RETURN_IF_ERROR(store.GetListItems(list,
                                        {.min_timestamp_nanos = 0,
                                         .max_timestamp_nanos = std::nullopt,
                                         .limit = rows_max,
                                         .with_expiry = true},
                                        &items));
  PrintRows(items, now_nanos, out);
  if (items.size() < live) absl::FPrintF(out, "  and %s more\n", Grouped(live - items.size()));
  return absl::OkStatus();
}

absl::Status PrintListsOfEntity(const ListStore& store, std::string_view entity_id,
                                uint64_t now_nanos, size_t rows_max, std::FILE* out) {
  bool found = false;
  for (const ListFeatureInfo& feature : store.ListFeatures()) {
    for (const ListFeatureVersionInfo& version : feature.versions) {
      const ListId list{feature.entity_type, feature.feature, version.version, entity_id};
      LS_ASSIGN_OR_RETURN(const size_t live, store.CountListItems(list));
      if (live == 0) continue;
      if (found) std::fputc('\n', out);
      found = true;
      LS_RETURN_IF_ERROR(PrintList(store, list, now_nanos, rows_max, out));
    }
  }
  if (!found) {
    absl::FPrintF(out, "entity %s: no live items at %s\n", Printable(entity_id, 60),
                  UtcTime(now_nanos));
  }
  return absl::OkStatus();
}

}  // namespace liststore
