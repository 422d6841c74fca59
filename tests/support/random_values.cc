#include "tests/support/random_values.h"

#include <iterator>

#include "engine/base/big_endian.h"
#include "engine/base/check.h"
#include "engine/model/clustering_encoding.h"
#include "engine/model/packed_item_key.h"

namespace liststore::testing {
namespace {

// Big-endian, as CQL sends integers; few distinct ones in most draws.
std::string RandomInteger(Random& rng, size_t bytes) {
  uint64_t bits = rng.OneIn(3) ? rng.Next() : static_cast<uint64_t>(rng.Between(-6, 6));
  std::string out(bytes, '\0');
  for (size_t i = bytes; i > 0; --i, bits >>= 8) out[i - 1] = static_cast<char>(bits);
  return out;
}

std::string RandomAscii(Random& rng, size_t size) {
  std::string out = RandomBytes(rng, size);
  for (char& c : out) c = static_cast<char>(c & 0x7f);
  return out;
}

// Few letters, so that prefixes meet; a zero byte now and then.
std::string RandomShort(Random& rng) {
  constexpr char kLetters[] = {'a', 'b', '\0', '\x01', '\x7f'};
  std::string out;
  for (uint64_t i = rng.Below(5); i > 0; --i) out += kLetters[rng.Below(std::size(kLetters))];
  return out;
}

std::string RandomTimeOfDay(Random& rng) {
  std::string out(8, '\0');
  uint64_t nanos = rng.Below(86'400'000'000'000);
  for (size_t i = 8; i > 0; --i, nanos >>= 8) out[i - 1] = static_cast<char>(nanos);
  return out;
}

std::string RandomUuid(Random& rng, char version) {
  std::string out = RandomBytes(rng, 16);
  out[6] = static_cast<char>((out[6] & 0x0f) | version);
  out[8] = static_cast<char>((out[8] & 0x3f) | 0x80);
  return out;
}

}  // namespace

std::string RandomBytes(Random& rng, size_t size) {
  std::string out(size, '\0');
  for (char& c : out) c = static_cast<char>(rng.Next() >> 56);
  return out;
}

std::string RandomItemKey(Random& rng, uint64_t nanos) {
  uint8_t digest[16];
  for (uint8_t& byte : digest) byte = static_cast<uint8_t>(rng.Next() >> 56);
  char packed[kPackedItemKeyBytes];
  char text[kItemKeyTextBytes];
  PackItemKeyFromDigest(nanos, digest, packed);
  UnpackItemKey(packed, text);
  return std::string(text, kItemKeyTextBytes);
}

CqlType RandomKeyType(Random& rng) {
  constexpr CqlType kTypes[] = {CqlType::kAscii,   CqlType::kBigint,    CqlType::kBlob,
                                CqlType::kBoolean, CqlType::kDate,      CqlType::kDecimal,
                                CqlType::kDouble,  CqlType::kFloat,     CqlType::kInet,
                                CqlType::kInt,     CqlType::kSmallint,  CqlType::kText,
                                CqlType::kTime,    CqlType::kTimestamp, CqlType::kTimeuuid,
                                CqlType::kTinyint, CqlType::kUuid,      CqlType::kVarint};
  return kTypes[rng.Below(std::size(kTypes))];
}

std::string RandomKeyValue(Random& rng, CqlType type) {
  if (rng.OneIn(30)) return {};
  switch (type) {
    case CqlType::kAscii:
    case CqlType::kText:
      return rng.OneIn(2) ? RandomShort(rng) : RandomAscii(rng, rng.Below(20));
    case CqlType::kBlob:
      return rng.OneIn(2) ? RandomShort(rng) : RandomBytes(rng, rng.Below(20));
    case CqlType::kBoolean:
      return std::string(1, rng.OneIn(2) ? '\1' : '\0');
    case CqlType::kTinyint:
      return RandomInteger(rng, 1);
    case CqlType::kSmallint:
      return RandomInteger(rng, 2);
    case CqlType::kInt:
    case CqlType::kDate:
    case CqlType::kFloat:
      return RandomInteger(rng, 4);
    case CqlType::kBigint:
    case CqlType::kTimestamp:
    case CqlType::kDouble:
      return RandomInteger(rng, 8);
    case CqlType::kTime:
      return RandomTimeOfDay(rng);
    case CqlType::kInet:
      return RandomBytes(rng, rng.OneIn(2) ? 4 : 16);
    case CqlType::kTimeuuid:
      return RandomUuid(rng, 0x10);
    case CqlType::kUuid:
      return RandomUuid(rng, rng.OneIn(2) ? 0x10 : 0x40);
    case CqlType::kVarint:
      return RandomInteger(rng, 1 + rng.Below(9));
    case CqlType::kDecimal: {
      std::string scale(3, '\0');
      scale += static_cast<char>(rng.Below(5));
      return scale + RandomInteger(rng, 1 + rng.Below(9));
    }
    case CqlType::kCounter:
    case CqlType::kDuration:
      break;
  }
  LS_UNREACHABLE("counters and durations are no clustering columns");
}

void EncodeClusteringKey(const std::vector<ClusteringColumnSchema>& columns,
                         const std::vector<std::string>& values, std::string& out) {
  const std::vector<std::string_view> views(values.begin(), values.end());
  AppendClusteringKey(columns, views, out);
}

}  // namespace liststore::testing
