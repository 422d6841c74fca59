#include "engine/cql/decimal_sum.h"

#include <algorithm>
#include <utility>

#include "engine/base/big_endian.h"
#include "engine/base/check.h"
#include "engine/cql/literal.h"
#include "engine/cql/number_text.h"
#include "engine/model/decimal.h"

namespace liststore {
namespace {

void DropZeros(std::string& digits) {
  const size_t first = digits.find_first_not_of('0');
  digits.erase(0, std::min(first, digits.size() - 1));
}

bool IsLess(const std::string& a, const std::string& b) {
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

std::string Plus(const std::string& a, const std::string& b) {
  std::string sum;
  int carry = 0;
  for (size_t i = 0; i < std::max(a.size(), b.size()) || carry != 0; ++i) {
    if (i < a.size()) carry += a[a.size() - 1 - i] - '0';
    if (i < b.size()) carry += b[b.size() - 1 - i] - '0';
    sum.push_back(static_cast<char>('0' + carry % 10));
    carry /= 10;
  }
  std::ranges::reverse(sum);
  return sum;
}

// `a` is not less than `b`.
std::string Minus(std::string a, const std::string& b) {
  LS_DCHECK(!IsLess(a, b), "the larger comes first");
  for (size_t i = 0; i < b.size(); ++i) {
    int difference = a[a.size() - 1 - i] - b[b.size() - 1 - i];
    for (size_t at = a.size() - 1 - i; difference < 0;) {
      difference += 10;
      // Borrowed from the next that has something.
      while (a[--at] == '0') a[at] = '9';
      --a[at];
    }
    a[a.size() - 1 - i] = static_cast<char>('0' + difference);
  }
  DropZeros(a);
  return a;
}

}  // namespace

void DecimalSum::Add(std::string_view varint, int64_t scale) {
  std::string text = PrintVarint(varint);
  const bool negative = text.starts_with('-');
  if (negative) text.erase(0, 1);
  const int64_t common = std::max(scale, scale_);
  text.append(static_cast<size_t>(common - scale), '0');
  digits_.append(static_cast<size_t>(common - scale_), '0');
  DropZeros(text);
  DropZeros(digits_);
  scale_ = common;
  if (negative == negative_) {
    digits_ = Plus(digits_, text);
  } else if (IsLess(digits_, text)) {
    digits_ = Minus(std::move(text), digits_);
    negative_ = negative;
  } else {
    digits_ = Minus(std::move(digits_), text);
  }
  if (digits_ == "0") negative_ = false;
}

bool DecimalSum::AddDecimal(std::string_view value) {
  LS_CHECK(value.size() >= kDecimalScaleBytes, "a decimal begins with its scale");
  const auto scale = int64_t{static_cast<int32_t>(LoadBigEndian32(value.data()))};
  if (std::max(scale, scale_) - std::min(scale, scale_) > static_cast<int64_t>(kLiteralDigitsMax)) {
    return false;
  }
  const std::string_view unscaled = value.substr(kDecimalScaleBytes);
  Add(unscaled.empty() ? std::string_view("\0", 1) : unscaled, scale);
  return true;
}

std::string DecimalSum::Varint() const {
  const std::optional<std::string> value = ParseVarint(negative_ ? "-" + digits_ : digits_);
  LS_CHECK(value.has_value(), "digits are a number");
  return *value;
}

std::string DecimalSum::Decimal() const {
  std::string scale(kDecimalScaleBytes, '\0');
  StoreBigEndian32(scale.data(), static_cast<uint32_t>(static_cast<int32_t>(scale_)));
  return scale + Varint();
}

DecimalSum DecimalSum::DividedBy(uint64_t count, uint64_t& remainder) const {
  LS_CHECK(count > 0, "nothing is divided by nothing");
  DecimalSum quotient = *this;
  unsigned __int128 rest = 0;
  for (char& digit : quotient.digits_) {
    rest = rest * 10 + static_cast<unsigned>(digit - '0');
    digit = static_cast<char>('0' + static_cast<int>(rest / count));
    rest %= count;
  }
  remainder = static_cast<uint64_t>(rest);
  DropZeros(quotient.digits_);
  if (quotient.digits_ == "0") quotient.negative_ = false;
  return quotient;
}

DecimalSum DecimalSum::CutBy(uint64_t count) const {
  uint64_t remainder = 0;
  return DividedBy(count, remainder);
}

DecimalSum DecimalSum::RoundedBy(uint64_t count) const {
  uint64_t remainder = 0;
  DecimalSum quotient = DividedBy(count, remainder);
  const uint64_t rest_to_one = count - remainder;
  const bool is_odd = (quotient.digits_.back() - '0') % 2 != 0;
  if (remainder > rest_to_one || (remainder == rest_to_one && is_odd)) {
    quotient.digits_ = Plus(quotient.digits_, "1");
    quotient.negative_ = negative_;
  }
  return quotient;
}

}  // namespace liststore
