// What peers that are databases have in common: how an item becomes a row of theirs, and what is
// read back.
#ifndef LISTSTORE_BENCH_PEERS_PEER_ROWS_H_
#define LISTSTORE_BENCH_PEERS_PEER_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "bench/measure/workload.h"
#include "engine/base/check.h"
#include "engine/base/md5.h"
#include "engine/model/packed_item_key.h"
#include "liststore/clock.h"
#include "liststore/list_item.h"

namespace liststore {

inline constexpr int64_t kPeerNanosPerSecond = 1'000'000'000;

inline int64_t PeerNowSeconds() {
  return static_cast<int64_t>(SystemClock::Instance().NowNanos()) / kPeerNanosPerSecond;
}
// When an item ends.
inline int64_t PeerExpiry(const NewItem& item) {
  return static_cast<int64_t>(item.timestamp_nanos) / kPeerNanosPerSecond + kBenchTtlSeconds;
}
// The item's key in 24 bytes, the MD5 of its value included.
inline PackedItemKey PeerItemKey(const NewItem& item) {
  uint8_t digest[kMd5Bytes];
  Md5(item.value, digest);
  PackedItemKey key;
  PackItemKeyFromDigest(item.timestamp_nanos, digest, key.data());
  return key;
}

// For stores of ordered keys and their values: the list's key and behind it the item's with every
// bit turned, so that the newest come first.
class PeerRow {
 public:
  static constexpr size_t kExpiryBytes = sizeof(int64_t);

  static void AppendKey(std::string_view list, const PackedItemKey& key, std::string* row_key) {
    row_key->assign(list);
    for (const char c : key) row_key->push_back(static_cast<char>(~c));
  }
  static void AppendValue(const NewItem& item, std::string* row_value) {
    const int64_t expiry = PeerExpiry(item);
    row_value->assign(reinterpret_cast<const char*>(&expiry), sizeof(expiry));
    row_value->append(item.value);
  }
  static bool IsOf(std::string_view list, std::string_view row_key) {
    return row_key.size() == list.size() + kPackedItemKeyBytes && row_key.starts_with(list);
  }
  static bool Lives(std::string_view row_value, int64_t now_seconds) {
    LS_CHECK(row_value.size() >= kExpiryBytes, "a row begins with its expiry");
    int64_t expiry;
    std::memcpy(&expiry, row_value.data(), sizeof(expiry));
    return expiry > now_seconds;
  }
  static std::string_view ValueOf(std::string_view row_value) {
    return row_value.substr(kExpiryBytes);
  }
  static PackedItemKey ItemKeyOf(std::string_view row_key) {
    PackedItemKey key;
    const std::string_view turned = row_key.substr(row_key.size() - kPackedItemKeyBytes);
    for (size_t i = 0; i < key.size(); ++i) key[i] = static_cast<char>(~turned[i]);
    return key;
  }
};

// Rows copied out by a read, newest first. Keeps its memory from read to read.
class PeerRows {
 public:
  void Clear() {
    bytes_.clear();
    count_ = 0;
  }
  void Append(std::string_view item_key, std::string_view value) {
    bytes_ += item_key;
    bytes_ += value;
    if (count_++ == 0) first_value_bytes_ = value.size();
  }
  size_t size() const { return count_; }
  // Borrowed until the next read; timestamp 0 when nothing was read.
  NewItem Newest() const {
    if (count_ == 0) return {};
    return {PackedItemKeyNanos(bytes_.data()),
            std::string_view(bytes_).substr(kPackedItemKeyBytes, first_value_bytes_)};
  }

 private:
  std::string bytes_;
  size_t count_ = 0;
  size_t first_value_bytes_ = 0;
};

}  // namespace liststore

#endif  // LISTSTORE_BENCH_PEERS_PEER_ROWS_H_
