#include "engine/cql/values/decimal_sum.h"

#include <algorithm>
#include <utility>

#include "engine/base/big_endian.h"
#include "engine/base/check.h"
#include "engine/cql/values/number_text.h"
#include "engine/model/types/big_number.h"
#include "engine/model/types/decimal.h"

namespace liststore::cql {
namespace {

constexpr int kLimbBits = 32;

void Trim(std::vector<uint32_t>& magnitude) {
  while (!magnitude.empty() && magnitude.back() == 0) magnitude.pop_back();
}

// magnitude * factor + carry.
void Multiply(std::vector<uint32_t>& magnitude, uint32_t factor, uint64_t carry) {
  for (uint32_t& limb : magnitude) {
    carry += uint64_t{limb} * factor;
    limb = static_cast<uint32_t>(carry);
    carry >>= kLimbBits;
  }
  if (carry != 0) magnitude.push_back(static_cast<uint32_t>(carry));
}

// Two's complement of the same length.
void Negate(std::vector<uint32_t>& limbs) {
  bool carries = true;
  for (uint32_t& limb : limbs) {
    limb = ~limb + (carries ? 1 : 0);
    carries = carries && limb == 0;
  }
}

}  // namespace

void DecimalSum::Limbs::Carry() {
  int64_t carry = 0;
  for (int64_t& limb : limbs) {
    const int64_t value = limb + carry;
    limb = static_cast<uint32_t>(value);
    carry = value >> kLimbBits;
  }
  // A negative one stays in a limb of its own, which takes more as it takes others.
  if (carry != 0) limbs.push_back(carry);
  additions = 0;
}

void DecimalSum::Limbs::Add(std::string_view varint) {
  LS_CHECK(!varint.empty(), "a varint has at least one byte");
  // Each addition moves a limb by less than 2^32.
  constexpr uint32_t kAdditionsMax = 1u << 30;
  if (++additions == kAdditionsMax) Carry();
  const size_t count = (varint.size() + sizeof(uint32_t) - 1) / sizeof(uint32_t);
  if (limbs.size() < count + 1) limbs.resize(count + 1, 0);
  const bool negative = (varint[0] & 0x80) != 0;
  const auto limb_of = [](std::string_view bytes) {
    uint32_t limb = 0;
    for (const char byte : bytes) limb = limb << 8 | static_cast<uint8_t>(byte);
    return limb;
  };
  for (size_t i = 0; i + 1 < count; ++i) {
    limbs[i] += LoadBigEndian32(varint.data() + varint.size() - sizeof(uint32_t) * (i + 1));
  }
  const size_t first_bytes = varint.size() - sizeof(uint32_t) * (count - 1);
  limbs[count - 1] += limb_of(varint.substr(0, first_bytes));
  // What its sign says of the bits above.
  if (!negative) return;
  if (first_bytes == sizeof(uint32_t)) {
    limbs[count] -= 1;
  } else {
    limbs[count - 1] -= int64_t{1} << (8 * first_bytes);
  }
}

DecimalSum::Number DecimalSum::NumberOf(Limbs sum) {
  sum.limbs.push_back(0);
  sum.Carry();
  Number number;
  // By now the last limb is the sign's alone.
  number.negative = sum.limbs.back() < 0;
  for (const int64_t limb : sum.limbs) number.magnitude.push_back(static_cast<uint32_t>(limb));
  if (number.negative) Negate(number.magnitude);
  Trim(number.magnitude);
  return number;
}

std::string DecimalSum::VarintOf(const Number& number) {
  std::vector<uint32_t> limbs = number.magnitude;
  limbs.push_back(0);
  if (number.negative) Negate(limbs);
  std::string varint(limbs.size() * sizeof(uint32_t), '\0');
  for (size_t i = 0; i < limbs.size(); ++i) {
    StoreBigEndian32(varint.data() + varint.size() - sizeof(uint32_t) * (i + 1), limbs[i]);
  }
  return std::string(TrimVarint(varint));
}

void DecimalSum::AddMagnitude(const Number& number, Limbs& to) {
  if (to.limbs.size() < number.magnitude.size()) to.limbs.resize(number.magnitude.size(), 0);
  for (size_t i = 0; i < number.magnitude.size(); ++i) {
    const auto limb = static_cast<int64_t>(number.magnitude[i]);
    to.limbs[i] += number.negative ? -limb : limb;
  }
}

void DecimalSum::Add(std::string_view varint, int64_t scale) {
  constexpr size_t kScaleBytes = 96;  // an entry of the map
  const auto [at, is_new] = by_scale_.try_emplace(scale);
  Limbs& sum = at->second;
  const size_t limbs = sum.limbs.size();
  sum.Add(varint);
  bytes_ += (sum.limbs.size() - limbs) * sizeof(int64_t) + (is_new ? kScaleBytes : 0);
  scale_ = std::max(scale, scale_);
  bytes_max_ = std::max(varint.size(), bytes_max_);
}

bool DecimalSum::AddDecimal(std::string_view value) {
  LS_CHECK(value.size() >= kDecimalScaleBytes, "a decimal begins with its scale");
  const auto scale = int64_t{static_cast<int32_t>(LoadBigEndian32(value.data()))};
  std::string_view unscaled = value.substr(kDecimalScaleBytes);
  if (unscaled.empty()) unscaled = {"\0", 1};
  // The sum begins with a 0 of scale 0.
  const int64_t first = by_scale_.empty() ? 0 : std::min<int64_t>(0, by_scale_.begin()->first);
  const int64_t span = std::max(scale, scale_) - std::min(scale, first);
  if (span > static_cast<int64_t>(kLiteralDigitsMax)) return false;
  const bool several =
      by_scale_.size() > 1 || (by_scale_.size() == 1 && !by_scale_.contains(scale));
  const bool stretches = scale < scale_ || several;
  if (stretches && std::max(bytes_max_, unscaled.size()) > kPrintedVarintBytesMax) return false;
  Add(unscaled, scale);
  return true;
}

DecimalSum::Number DecimalSum::SumOf(std::span<const ScaledLimbs> by_scale) {
  if (by_scale.size() == 1) return NumberOf(*by_scale[0].second);
  // Two halves, of which the smaller scales get digits until they have the larger scale.
  const size_t middle = by_scale.size() / 2;
  Number sum = SumOf(by_scale.first(middle));
  const int64_t zeros = by_scale.back().first - by_scale[middle - 1].first;
  sum.magnitude = TimesPowerOfTen(sum.magnitude, static_cast<uint64_t>(zeros));
  Limbs limbs;
  AddMagnitude(sum, limbs);
  AddMagnitude(SumOf(by_scale.subspan(middle)), limbs);
  return NumberOf(std::move(limbs));
}

DecimalSum::Number DecimalSum::Total() const {
  if (by_scale_.empty()) return {};
  std::vector<ScaledLimbs> by_scale;
  for (const auto& [scale, limbs] : by_scale_) by_scale.emplace_back(scale, &limbs);
  Number total = SumOf(by_scale);
  const int64_t zeros = scale_ - by_scale.back().first;
  total.magnitude = TimesPowerOfTen(total.magnitude, static_cast<uint64_t>(zeros));
  return total;
}

std::string DecimalSum::Varint() const { return VarintOf(Total()); }

std::string DecimalSum::Decimal() const {
  std::string scale(kDecimalScaleBytes, '\0');
  StoreBigEndian32(scale.data(), static_cast<uint32_t>(static_cast<int32_t>(scale_)));
  return scale + Varint();
}

DecimalSum DecimalSum::DividedBy(uint64_t count, bool rounds) const {
  LS_CHECK(count > 0, "nothing is divided by nothing");
  Number quotient = Total();
  unsigned __int128 rest = 0;
  for (size_t i = quotient.magnitude.size(); i-- > 0;) {
    rest = rest << kLimbBits | quotient.magnitude[i];
    quotient.magnitude[i] = static_cast<uint32_t>(rest / count);
    rest %= count;
  }
  const bool is_odd = !quotient.magnitude.empty() && quotient.magnitude[0] % 2 != 0;
  if (rounds && (2 * rest > count || (2 * rest == count && is_odd))) {
    Multiply(quotient.magnitude, 1, 1);
  }
  Trim(quotient.magnitude);
  DecimalSum divided;
  divided.scale_ = scale_;
  AddMagnitude(quotient, divided.by_scale_[scale_]);
  return divided;
}

}  // namespace liststore::cql
