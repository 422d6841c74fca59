// Printing; ParseJson is in parse_json.cc.
#include "engine/cql/values/json_value.h"

#include <charconv>
#include <cmath>

#include "engine/base/check.h"

namespace liststore::cql {
namespace {

constexpr char kUpperHexDigits[] = "0123456789ABCDEF";

// 0.digits * 10^point.
struct ShortestDigits {
  bool negative = false;
  std::string digits;
  int point = 0;
};

template <typename Float>
ShortestDigits ShortestDigitsOf(Float number) {
  LS_CHECK(std::isfinite(number), "there is no JSON for other numbers");
  char text[64];
  const auto [end, failure] =
      std::to_chars(text, text + sizeof(text), number, std::chars_format::scientific);
  LS_CHECK(failure == std::errc(), "the shortest form of a float has few digits");
  ShortestDigits shortest;
  const char* at = text;
  for (; *at != 'e'; ++at) {
    if (*at == '-') {
      shortest.negative = true;
    } else if (*at != '.') {
      shortest.digits += *at;
    }
  }
  at += at[1] == '+' ? 2 : 1;
  std::from_chars(at, end, shortest.point);
  ++shortest.point;
  return shortest;
}

// Digits with a point behind so many of them, which may be fewer than none or more than all.
std::string WithPoint(std::string digits, int point) {
  const auto size = static_cast<int>(digits.size());
  if (point >= size) return digits.append(static_cast<size_t>(point - size), '0');
  if (point > 0) return digits.insert(static_cast<size_t>(point), ".");
  return "0." + std::string(static_cast<size_t>(-point), '0') + digits;
}

std::string WithExponent(std::string digits, const std::string& exponent) {
  if (digits.size() > 1) digits.insert(1, ".");
  return digits + "e" + exponent;
}

// As the library fmt prints by default.
template <typename Float>
std::string PrintLikeFmt(Float number) {
  constexpr int kPlainMin = -4;
  constexpr int kPlainMax = 16;
  ShortestDigits shortest = ShortestDigitsOf(number);
  const std::string sign = shortest.negative ? "-" : "";
  const int exponent = shortest.point - 1;
  if (exponent >= kPlainMin && exponent < kPlainMax) {
    return sign + WithPoint(std::move(shortest.digits), shortest.point);
  }
  std::string digits = std::to_string(std::abs(exponent));
  if (digits.size() == 1) digits.insert(0, "0");
  return sign + WithExponent(std::move(shortest.digits), (exponent < 0 ? "-" : "+") + digits);
}

struct Printer {
  std::string operator()(std::monostate) const { return "null"; }
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(int64_t value) const { return std::to_string(value); }
  std::string operator()(uint64_t value) const { return std::to_string(value); }
  std::string operator()(double value) const { return PrintJsonNumber(value); }
  std::string operator()(const std::string& value) const { return QuoteJson(value); }
  std::string operator()(const JsonArray& elements) const {
    std::string text = "[";
    for (const JsonValue& element : elements) {
      if (text.size() > 1) text += ',';
      text += PrintJson(element);
    }
    return text + "]";
  }
  std::string operator()(const JsonObject& members) const {
    std::string text = "{";
    for (const auto& [name, value] : members) {
      if (text.size() > 1) text += ',';
      text += QuoteJson(name) + ":" + PrintJson(value);
    }
    return text + "}";
  }
};

// The letter behind the backslash; 0: there is none of its own.
char ShortEscape(char c) {
  switch (c) {
    case '"':
    case '\\':
      return c;
    case '\b':
      return 'b';
    case '\f':
      return 'f';
    case '\n':
      return 'n';
    case '\r':
      return 'r';
    case '\t':
      return 't';
    default:
      return 0;
  }
}

}  // namespace

std::string PrintJson(const JsonValue& value) { return std::visit(Printer{}, value.node); }

std::string QuoteJson(std::string_view text) {
  std::string quoted = "\"";
  quoted.reserve(QuotedJsonBytes(text));
  for (const char c : text) {
    if (const char letter = ShortEscape(c); letter != 0) {
      quoted += '\\';
      quoted += letter;
    } else if (static_cast<uint8_t>(c) < 0x20) {
      quoted += "\\u00";
      quoted += kUpperHexDigits[static_cast<uint8_t>(c) >> 4];
      quoted += kUpperHexDigits[static_cast<uint8_t>(c) & 15];
    } else {
      quoted += c;
    }
  }
  quoted += '"';
  return quoted;
}

size_t QuotedJsonBytes(std::string_view text) {
  size_t bytes = text.size() + 2;
  for (const char c : text) {
    if (ShortEscape(c) != 0) {
      ++bytes;
    } else if (static_cast<uint8_t>(c) < 0x20) {
      bytes += 5;  // \u0001
    }
  }
  return bytes;
}

// Source: RapidJSON internal/dtoa.h, Prettify.
std::string PrintJsonNumber(double number) {
  constexpr int kPlainPointMin = -5;
  constexpr int kPlainPointMax = 21;
  ShortestDigits shortest = ShortestDigitsOf(number);
  const std::string sign = shortest.negative ? "-" : "";
  if (number == 0) return sign + "0.0";
  if (shortest.point >= kPlainPointMin && shortest.point <= kPlainPointMax) {
    const bool whole = shortest.point >= static_cast<int>(shortest.digits.size());
    return sign + WithPoint(std::move(shortest.digits), shortest.point) + (whole ? ".0" : "");
  }
  return sign + WithExponent(std::move(shortest.digits), std::to_string(shortest.point - 1));
}

std::string PrintShortest(double number) { return PrintLikeFmt(number); }
std::string PrintShortest(float number) { return PrintLikeFmt(number); }

}  // namespace liststore::cql
