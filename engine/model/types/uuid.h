// Uuid: 16 bytes that name a table, a version of the schema, a node.
#ifndef LISTSTORE_ENGINE_MODEL_TYPES_UUID_H_
#define LISTSTORE_ENGINE_MODEL_TYPES_UUID_H_

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace liststore {

struct Uuid {
  std::array<char, 16> bytes = {};

  // A version 4 UUID of these 128 bits, of which six are replaced. Source: RFC 4122, section 4.4.
  static constexpr Uuid FromRandomBits(uint64_t high, uint64_t low) {
    Uuid uuid;
    for (size_t i = 0; i < 8; ++i) {
      uuid.bytes[i] = static_cast<char>(high >> (56 - 8 * i));
      uuid.bytes[8 + i] = static_cast<char>(low >> (56 - 8 * i));
    }
    uuid.bytes[6] = static_cast<char>((uuid.bytes[6] & 0x0f) | 0x40);
    uuid.bytes[8] = static_cast<char>((uuid.bytes[8] & 0x3f) | 0x80);
    return uuid;
  }

  // The serialised CQL value.
  std::string_view view() const { return {bytes.data(), bytes.size()}; }
  // 36 characters, lower case.
  std::string ToString() const {
    constexpr char kDigits[] = "0123456789abcdef";
    std::string text;
    for (size_t i = 0; i < bytes.size(); ++i) {
      if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
      const auto byte = static_cast<unsigned char>(bytes[i]);
      text += kDigits[byte >> 4];
      text += kDigits[byte & 15];
    }
    return text;
  }
  auto operator<=>(const Uuid&) const = default;
};

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_MODEL_TYPES_UUID_H_
