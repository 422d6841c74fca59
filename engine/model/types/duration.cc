#include "engine/model/types/duration.h"

#include <bit>
#include <cstddef>
#include <limits>

namespace liststore {
namespace {

// Takes one zigzag vint: as many bytes behind the first as it has leading ones, big endian.
std::optional<int64_t> TakeVint(std::string_view& rest) {
  if (rest.empty()) return std::nullopt;
  const auto first = static_cast<uint8_t>(rest[0]);
  const auto more = static_cast<size_t>(std::countl_one(first));
  if (rest.size() < 1 + more) return std::nullopt;
  uint64_t value = more >= 7 ? 0 : first & (0xffu >> (more + 1));
  for (size_t i = 1; i <= more; ++i) value = value << 8 | static_cast<uint8_t>(rest[i]);
  rest.remove_prefix(1 + more);
  return static_cast<int64_t>((value >> 1) ^ (~(value & 1) + 1));
}

void AppendVint(int64_t value, std::string& out) {
  const auto bits = static_cast<uint64_t>(value);
  const uint64_t zigzag = bits << 1 ^ (value < 0 ? ~uint64_t{0} : 0);
  const auto width = static_cast<size_t>(std::bit_width(zigzag));
  // Seven bits a byte, the first giving up one of its own for each further byte; nine bytes hold 64
  // bits, since the last of those ones needs no zero behind it.
  const size_t more = width <= 7 ? 0 : width > 56 ? 8 : (width - 1) / 7;
  const uint64_t top = more == 8 ? 0 : zigzag >> (8 * more);
  out.push_back(static_cast<char>((0xff00u >> more & 0xffu) | top));
  for (size_t i = more; i-- > 0;) out.push_back(static_cast<char>(zigzag >> (8 * i)));
}

bool Fits32Bits(int64_t value) {
  return value >= std::numeric_limits<int32_t>::min() &&
         value <= std::numeric_limits<int32_t>::max();
}

}  // namespace

std::optional<DurationCounts> DecodeDurationCounts(std::string_view value) {
  const std::optional<int64_t> months = TakeVint(value);
  const std::optional<int64_t> days = months ? TakeVint(value) : std::nullopt;
  const std::optional<int64_t> nanos = days ? TakeVint(value) : std::nullopt;
  if (!nanos || !value.empty()) return std::nullopt;
  return DurationCounts{*months, *days, *nanos};
}

bool DurationCounts::have_one_sign() const {
  const bool none_below = months >= 0 && days >= 0 && nanoseconds >= 0;
  const bool none_above = months <= 0 && days <= 0 && nanoseconds <= 0;
  return none_below || none_above;
}

std::optional<Duration> DecodeDuration(std::string_view value) {
  const std::optional<DurationCounts> counts = DecodeDurationCounts(value);
  if (!counts || !counts->have_one_sign()) return std::nullopt;
  if (!Fits32Bits(counts->months) || !Fits32Bits(counts->days)) return std::nullopt;
  return Duration{static_cast<int32_t>(counts->months), static_cast<int32_t>(counts->days),
                  counts->nanoseconds};
}

std::string EncodeDuration(const Duration& duration) {
  std::string value;
  AppendVint(duration.months, value);
  AppendVint(duration.days, value);
  AppendVint(duration.nanoseconds, value);
  return value;
}

}  // namespace liststore
