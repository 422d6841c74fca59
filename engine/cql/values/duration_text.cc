// Durations as text. Declared in time_text.h.
#include <array>
#include <charconv>
#include <limits>
#include <optional>

#include "engine/cql/syntax/shown_text.h"
#include "engine/cql/values/time_text.h"

namespace liststore::cql {
namespace {

// Units from the largest to the smallest, the order in which text has to name them.
struct Unit {
  enum class Part : uint8_t {
    kMonths,
    kDays,
    kNanoseconds
  };

  std::string_view symbol;  // behind its number, lower case
  char iso;                 // its letter behind P, or behind T; 0: none
  bool iso_time;            // behind T
  std::string_view name;
  Part part;
  int64_t factor;
};

constexpr std::array<Unit, 10> kUnits = {{
    {"y", 'Y', false, "years", Unit::Part::kMonths, 12},
    {"mo", 'M', false, "months", Unit::Part::kMonths, 1},
    {"w", 'W', false, "weeks", Unit::Part::kDays, 7},
    {"d", 'D', false, "days", Unit::Part::kDays, 1},
    {"h", 'H', true, "hours", Unit::Part::kNanoseconds, 3'600'000'000'000},
    {"m", 'M', true, "minutes", Unit::Part::kNanoseconds, 60'000'000'000},
    {"s", 'S', true, "seconds", Unit::Part::kNanoseconds, 1'000'000'000},
    {"ms", 0, true, "milliseconds", Unit::Part::kNanoseconds, 1'000'000},
    {"us", 0, true, "microseconds", Unit::Part::kNanoseconds, 1'000},
    {"ns", 0, true, "nanoseconds", Unit::Part::kNanoseconds, 1},
}};
constexpr size_t kNoUnit = kUnits.size();

CqlError InvalidDuration(std::string detail) {
  return CqlError::Invalid("marshaling error: Invalid duration. " + std::move(detail));
}

// Adds up counts of units, none of them negative.
class Builder {
 public:
  explicit Builder(bool negative) : negative_(negative) {}

  // `digits` of unit number `index`, which has to be smaller than the one before.
  CqlStatus Add(std::string_view digits, size_t index) {
    const Unit& unit = kUnits[index];
    const std::string name(unit.name);
    uint64_t count = 0;
    const auto [end, failure] =
        std::from_chars(digits.data(), digits.data() + digits.size(), count);
    const bool fits = negative_ || count <= uint64_t{std::numeric_limits<int64_t>::max()};
    if (failure != std::errc() || end != digits.data() + digits.size() || !fits) {
      return InvalidDuration("The count for the " + name + " is out of range");
    }
    uint64_t& total = totals_[static_cast<size_t>(unit.part)];
    const uint64_t available = (MaxOf(unit.part) - total) / static_cast<uint64_t>(unit.factor);
    if (count > available) {
      return InvalidDuration("The number of " + name + " must be less than or equal to " +
                             std::to_string(available));
    }
    if (last_ != kNoUnit && index == last_) {
      return InvalidDuration("The " + name + " are specified multiple times");
    }
    if (last_ != kNoUnit && index < last_) {
      return InvalidDuration("The " + std::string(kUnits[last_].name) + " should be after " + name);
    }
    last_ = index;
    total += count * static_cast<uint64_t>(unit.factor);
    return {};
  }

  Duration Build() const {
    const auto with_sign = [this](uint64_t total) {
      return static_cast<int64_t>(negative_ ? ~total + 1 : total);
    };
    return {static_cast<int32_t>(with_sign(totals_[0])),
            static_cast<int32_t>(with_sign(totals_[1])), with_sign(totals_[2])};
  }

 private:
  // Negative numbers reach one further.
  uint64_t MaxOf(Unit::Part part) const {
    const uint64_t max = part == Unit::Part::kNanoseconds
                             ? static_cast<uint64_t>(std::numeric_limits<int64_t>::max())
                             : static_cast<uint64_t>(std::numeric_limits<int32_t>::max());
    return max + (negative_ ? 1 : 0);
  }

  bool negative_;
  size_t last_ = kNoUnit;
  std::array<uint64_t, 3> totals_{};
};

char ToLower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

size_t DigitsAt(std::string_view text) {
  size_t count = 0;
  while (count < text.size() && text[count] >= '0' && text[count] <= '9') ++count;
  return count;
}

// The unit whose symbol begins `text`, and how long that is; two letters before one.
size_t UnitAt(std::string_view text, size_t& bytes) {
  if (text.starts_with("\xc2\xb5") && text.size() > 2 && ToLower(text[2]) == 's') {
    bytes = 3;
    return 8;
  }
  for (bytes = 2; bytes > 0; --bytes) {
    if (text.size() < bytes) continue;
    std::string symbol(text.substr(0, bytes));
    for (char& c : symbol) c = ToLower(c);
    for (size_t i = 0; i < kUnits.size(); ++i) {
      if (kUnits[i].symbol == symbol) return i;
    }
  }
  return kNoUnit;
}

// 1h30m. False where the text has another form.
CqlOr<bool> AddUnits(std::string_view text, Builder& builder) {
  while (!text.empty()) {
    const size_t digits = DigitsAt(text);
    size_t bytes = 0;
    const size_t unit = digits == 0 ? kNoUnit : UnitAt(text.substr(digits), bytes);
    if (unit == kNoUnit) return false;
    if (CqlStatus added = builder.Add(text.substr(0, digits), unit); !added.ok()) return added;
    text.remove_prefix(digits + bytes);
  }
  return true;
}

// P1Y2M3DT4H5M6S and P2W, behind the P.
CqlOr<bool> AddIso(std::string_view text, Builder& builder) {
  if (text.empty()) return false;
  const bool weeks = text.ends_with('W');
  bool time = false;
  size_t next = 0;
  while (!text.empty()) {
    if (!time && text.starts_with('T')) {
      time = true;
      text.remove_prefix(1);
      continue;
    }
    const size_t digits = DigitsAt(text);
    if (digits == 0 || digits == text.size()) return false;
    const char letter = text[digits];
    while (next < kNoUnit && (kUnits[next].iso != letter || kUnits[next].iso_time != time)) ++next;
    if (next == kNoUnit || weeks != (letter == 'W')) return false;
    if (CqlStatus added = builder.Add(text.substr(0, digits), next); !added.ok()) return added;
    ++next;
    text.remove_prefix(digits + 1);
  }
  return true;
}

// P0001-02-03T04:05:06, behind the P.
CqlOr<bool> AddAlternative(std::string_view text, Builder& builder) {
  struct Field {
    size_t begin;
    size_t digits;
    size_t unit;
  };
  constexpr std::string_view kForm = "0000-00-00T00:00:00";
  constexpr Field kFields[] = {{0, 4, 0}, {5, 2, 1}, {8, 2, 3}, {11, 2, 4}, {14, 2, 5}, {17, 2, 6}};
  if (text.size() != kForm.size()) return false;
  for (size_t i = 0; i < kForm.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (kForm[i] == '0' ? !digit : text[i] != kForm[i]) return false;
  }
  for (const Field& field : kFields) {
    CqlStatus added = builder.Add(text.substr(field.begin, field.digits), field.unit);
    if (!added.ok()) return added;
  }
  return true;
}

uint64_t Magnitude(int64_t value) {
  const auto bits = static_cast<uint64_t>(value);
  return value < 0 ? ~bits + 1 : bits;
}

}  // namespace

CqlOr<Duration> ParseDurationText(std::string_view text) {
  const CqlError failure = CqlError::Invalid("marshaling error: Unable to convert '" +
                                             ShownText(text) + "' to a duration");
  std::string_view rest = text;
  const bool negative = rest.starts_with('-');
  if (negative) rest.remove_prefix(1);
  if (rest.empty()) return failure;
  Builder builder(negative);
  CqlOr<bool> has_form = false;
  if (!rest.starts_with('P')) {
    has_form = AddUnits(rest, builder);
  } else if (rest.find('-') != std::string_view::npos) {
    has_form = AddAlternative(rest.substr(1), builder);
  } else {
    has_form = AddIso(rest.substr(1), builder);
  }
  if (!has_form.ok()) return has_form.status();
  if (!*has_form) return failure;
  return builder.Build();
}

std::string PrintDurationText(const Duration& duration) {
  const bool negative = duration.months < 0 || duration.days < 0 || duration.nanoseconds < 0;
  uint64_t left[] = {Magnitude(duration.months), Magnitude(duration.days),
                     Magnitude(duration.nanoseconds)};
  std::string text = negative ? "-" : "";
  for (const Unit& unit : kUnits) {
    if (unit.symbol == "w") continue;  // days are days
    uint64_t& part = left[static_cast<size_t>(unit.part)];
    const auto factor = static_cast<uint64_t>(unit.factor);
    if (part < factor) continue;
    text += std::to_string(part / factor).append(unit.symbol);
    part %= factor;
  }
  return text;
}

}  // namespace liststore::cql
