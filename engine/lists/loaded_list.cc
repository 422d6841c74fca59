#include "engine/lists/loaded_list.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "engine/base/md5.h"
#include "engine/base/seconds.h"
#include "engine/lists/list_items_sink.h"
#include "engine/lists/remaining_time.h"
#include "engine/model/packed_item_key.h"

namespace liststore {

void ReadLoadedList(std::span<const NewItem> content, int64_t ttl_seconds, uint64_t now_nanos,
                    int64_t fresh_until_seconds, const GetOptions& options, ListItems& items) {
  struct Row {
    PackedItemKey key;
    std::string_view value;
    int64_t expiry_seconds;

    // Keys are ordered by unsigned bytes; an array of char would compare signed ones.
    std::string_view key_bytes() const { return {key.data(), key.size()}; }
  };
  const int64_t now_seconds = WholeSeconds(now_nanos);
  std::vector<Row> rows;
  rows.reserve(content.size());
  for (const NewItem& item : content) {
    const int64_t left_seconds = RemainingSeconds(item.timestamp_nanos, ttl_seconds, now_nanos);
    if (left_seconds == 0) continue;
    if (item.timestamp_nanos < options.min_timestamp_nanos ||
        (options.max_timestamp_nanos && item.timestamp_nanos >= *options.max_timestamp_nanos)) {
      continue;
    }
    Row& row = rows.emplace_back();
    uint8_t digest[kMd5Bytes];
    Md5(item.value, digest);
    PackItemKeyFromDigest(item.timestamp_nanos, digest, row.key.data());
    row.value = item.value;
    row.expiry_seconds = now_seconds + left_seconds;
  }
  std::sort(rows.begin(), rows.end(),
            [](const Row& a, const Row& b) { return a.key_bytes() > b.key_bytes(); });
  rows.erase(std::unique(rows.begin(), rows.end(),
                         [](const Row& a, const Row& b) { return a.key == b.key; }),
             rows.end());
  if (rows.size() > options.limit) rows.resize(options.limit);

  items.clear();
  ListItemsSink sink(items, options.with_expiry);
  for (const Row& row : rows) {
    const Liveness liveness{{0}, row.expiry_seconds, ttl_seconds};
    const LiveCellView cell{0, liveness, row.value};
    const RowView view{{{row.key.data(), row.key.size()}, true}, liveness, {&cell, 1}};
    sink.OnRows({&view, 1});
  }
  sink.SetInfo({.presence = Presence::kComplete, .fresh_until_seconds = fresh_until_seconds});
}

}  // namespace liststore
