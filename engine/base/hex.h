// Bytes as hexadecimal digits.
#ifndef LISTSTORE_ENGINE_BASE_HEX_H_
#define LISTSTORE_ENGINE_BASE_HEX_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace liststore {

// Two lower-case digits for each byte.
inline std::string LowerHex(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  hex.reserve(2 * bytes.size());
  for (const char byte : bytes) {
    hex.push_back(kDigits[static_cast<uint8_t>(byte) >> 4]);
    hex.push_back(kDigits[static_cast<uint8_t>(byte) & 15]);
  }
  return hex;
}

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_BASE_HEX_H_
