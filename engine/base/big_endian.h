// Unaligned loads and stores in a fixed byte order. Big-endian integers compare like their bytes.
#ifndef LISTSTORE_ENGINE_BASE_BIG_ENDIAN_H_
#define LISTSTORE_ENGINE_BASE_BIG_ENDIAN_H_

#include <bit>
#include <cstdint>
#include <cstring>

namespace liststore {

static_assert(std::endian::native == std::endian::little, "block layouts assume little endian");

// Native (little-endian) load and store at any alignment.
template <typename T>
inline T LoadNative(const void* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}
template <typename T>
inline void StoreNative(void* to, T value) {
  std::memcpy(to, &value, sizeof(T));
}

inline uint64_t LoadBigEndian64(const void* from) {
  return __builtin_bswap64(LoadNative<uint64_t>(from));
}
inline uint32_t LoadBigEndian32(const void* from) {
  return __builtin_bswap32(LoadNative<uint32_t>(from));
}
inline uint16_t LoadBigEndian16(const void* from) {
  return __builtin_bswap16(LoadNative<uint16_t>(from));
}
inline void StoreBigEndian64(void* to, uint64_t value) {
  StoreNative(to, __builtin_bswap64(value));
}
inline void StoreBigEndian32(void* to, uint32_t value) {
  StoreNative(to, __builtin_bswap32(value));
}
inline void StoreBigEndian16(void* to, uint16_t value) {
  StoreNative(to, __builtin_bswap16(value));
}

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_BASE_BIG_ENDIAN_H_
