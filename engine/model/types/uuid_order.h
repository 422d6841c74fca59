// How UUIDs sort. The bytes are time_low (4), time_mid (2), version and time_high (2), then 8 more;
// an ordered form is 16 bytes whose unsigned order is the type's, and can be turned back. Source:
// Cassandra `UUIDType`, `TimeUUIDType`; ScyllaDB `utils/UUID.hh`.
#ifndef LISTSTORE_ENGINE_MODEL_TYPES_UUID_ORDER_H_
#define LISTSTORE_ENGINE_MODEL_TYPES_UUID_ORDER_H_

#include <cstdint>

#include "engine/base/big_endian.h"

namespace liststore {

inline constexpr unsigned kTimeuuidVersion = 1;

inline unsigned UuidVersion(const char* uuid) { return static_cast<uint8_t>(uuid[6]) >> 4; }

// A UUID as two numbers whose order, first to last, is the type's order.
struct UuidOrder {
  uint64_t high = 0;
  uint64_t low = 0;
};

inline int CompareUuidOrders(UuidOrder a, UuidOrder b) {
  if (a.high != b.high) return a.high < b.high ? -1 : 1;
  return a.low < b.low ? -1 : a.low > b.low ? 1 : 0;
}

// Version 1: version, time_high, time_mid, time_low. Its own inverse but for the order of the
// parts.
inline uint64_t TimeFirst(uint64_t high) {
  return high << 48 | (high << 16 & 0xffff'0000'0000u) | high >> 32;
}
inline uint64_t TimeLast(uint64_t ordered) {
  return ordered << 32 | (ordered >> 16 & 0xffff'0000u) | ordered >> 48;
}

// Any other version: the version, then the other 60 bits as they come.
inline uint64_t VersionFirst(uint64_t high) {
  return (high & 0xf000u) << 48 | high >> 16 << 12 | (high & 0x0fffu);
}
inline uint64_t VersionBack(uint64_t ordered) {
  return (ordered << 4 >> 16 << 16) | (ordered >> 48 & 0xf000u) | (ordered & 0x0fffu);
}

// The type `uuid`: by version; version 1 by time; the rest as unsigned bytes.
inline UuidOrder OrderOfUuid(const char* uuid) {
  const uint64_t high = LoadBigEndian64(uuid);
  return {UuidVersion(uuid) == kTimeuuidVersion ? TimeFirst(high) : VersionFirst(high),
          LoadBigEndian64(uuid + 8)};
}
inline void UuidOfOrder(UuidOrder order, char uuid[16]) {
  const bool by_time = order.high >> 60 == kTimeuuidVersion;
  StoreBigEndian64(uuid, by_time ? TimeLast(order.high) : VersionBack(order.high));
  StoreBigEndian64(uuid + 8, order.low);
}

// The type `timeuuid`: by time; then, for a historic reason, as *signed* bytes.
inline constexpr uint64_t kSignBits = 0x8080'8080'8080'8080u;
inline UuidOrder OrderOfTimeuuid(const char* uuid) {
  return {TimeFirst(LoadBigEndian64(uuid)), LoadBigEndian64(uuid + 8) ^ kSignBits};
}
inline void TimeuuidOfOrder(UuidOrder order, char uuid[16]) {
  StoreBigEndian64(uuid, TimeLast(order.high));
  StoreBigEndian64(uuid + 8, order.low ^ kSignBits);
}

inline int CompareUuids(const char* a, const char* b) {
  return CompareUuidOrders(OrderOfUuid(a), OrderOfUuid(b));
}
inline int CompareTimeuuids(const char* a, const char* b) {
  return CompareUuidOrders(OrderOfTimeuuid(a), OrderOfTimeuuid(b));
}

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_MODEL_TYPES_UUID_ORDER_H_
