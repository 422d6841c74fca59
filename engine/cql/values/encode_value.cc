#include "engine/cql/values/encode_value.h"

#include <algorithm>
#include <bit>

#include "engine/base/big_endian.h"
#include "engine/base/check.h"
#include "engine/model/types/data_type.h"

namespace liststore::cql {
namespace {

std::string EightBytes(uint64_t bits) {
  std::string bytes(8, '\0');
  StoreBigEndian64(bytes.data(), bits);
  return bytes;
}

}  // namespace

std::string EncodeInt(int32_t value) {
  std::string bytes(4, '\0');
  StoreBigEndian32(bytes.data(), static_cast<uint32_t>(value));
  return bytes;
}

std::string EncodeBigint(int64_t value) { return EightBytes(static_cast<uint64_t>(value)); }

std::string EncodeFloat(float value) {
  return EncodeInt(static_cast<int32_t>(std::bit_cast<uint32_t>(value)));
}

std::string EncodeDouble(double value) { return EightBytes(std::bit_cast<uint64_t>(value)); }

std::string EncodeInteger(int64_t value, CqlType type) {
  const size_t bytes = CqlFixedBytes(type);
  LS_CHECK(bytes >= 1 && bytes <= 8, "an integer of a fixed length");
  return EncodeBigint(value).substr(8 - bytes);
}

int64_t DecodeInteger(std::string_view bytes) {
  LS_CHECK(!bytes.empty(), "an integer has at least one byte");
  uint64_t value = (bytes[0] & 0x80) != 0 ? ~uint64_t{0} : 0;
  for (const char byte : bytes) value = value << 8 | static_cast<uint8_t>(byte);
  return static_cast<int64_t>(value);
}

std::string EncodeBoolean(bool value) { return std::string(1, value ? '\1' : '\0'); }

std::string EncodeUuid(const Uuid& value) { return std::string(value.view()); }

std::string EncodeInet(std::string_view address) {
  LS_DCHECK(address.size() == 4 || address.size() == 16, "an address has 4 or 16 bytes");
  return std::string(address);
}

std::string EncodeTimestamp(uint64_t nanos) { return EightBytes(nanos / 1'000'000); }

std::string EncodeTextList(const std::vector<std::string>& elements) {
  return JoinCollection(DataType::List(CqlType::kText), elements);
}

std::string EncodeTextSet(std::vector<std::string> elements) {
  std::ranges::sort(elements);  // char_traits<char> compares as unsigned bytes, as text does
  elements.erase(std::unique(elements.begin(), elements.end()), elements.end());
  return JoinCollection(DataType::Set(CqlType::kText), elements);
}

std::string EncodeTextMap(const PropertyMap& entries) {
  std::vector<std::string> elements;
  for (const auto& [key, value] : entries) {
    elements.push_back(key);
    elements.push_back(value);
  }
  return JoinCollection(DataType::Map(CqlType::kText, CqlType::kText), elements);
}

}  // namespace liststore::cql
