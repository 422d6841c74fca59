#include "engine/cql/values/time_text.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <limits>

#include "engine/base/check.h"
#include "engine/base/seconds.h"
#include "engine/base/status_macros.h"
#include "engine/cql/syntax/shown_text.h"

namespace liststore::cql {
namespace {

constexpr int64_t kMillisPerDay = 86'400'000;
constexpr int64_t kEpochDay = int64_t{1} << 31;
// Of timestamps that are read. Source: Boost.DateTime, gregorian::greg_year.
constexpr int64_t kYearMin = 1400;
constexpr int64_t kYearMax = 9999;

struct CivilDate {
  int64_t year = 0;
  int64_t month = 0;
  int64_t day = 0;
};

bool IsLeap(int64_t year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

bool IsRealDate(const CivilDate& date) {
  constexpr int64_t kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  if (date.month < 1 || date.month > 12 || date.day < 1) return false;
  const bool leap_day = date.month == 2 && IsLeap(date.year);
  return date.day <= kDays[date.month - 1] + (leap_day ? 1 : 0);
}

// Days since 1970-01-01 in the proleptic Gregorian calendar, counted in eras of 400 years that
// begin on the first of March. For years that keep clear of the ends of 64 bits.
int64_t DaysOf(const CivilDate& date) {
  const int64_t year = date.year - (date.month <= 2 ? 1 : 0);
  const int64_t era = (year >= 0 ? year : year - 399) / 400;
  const int64_t year_of_era = year - era * 400;
  const int64_t day_of_year =
      (153 * (date.month + (date.month > 2 ? -3 : 9)) + 2) / 5 + date.day - 1;
  return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year -
         719468;
}

CivilDate DateOf(int64_t days) {
  days += 719468;
  const int64_t era = (days >= 0 ? days : days - 146096) / 146097;
  const int64_t day_of_era = days - era * 146097;
  const int64_t year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  const int64_t day_of_year =
      day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const int64_t month = (5 * day_of_year + 2) / 153;
  CivilDate date;
  date.month = month < 10 ? month + 3 : month - 9;
  date.year = year_of_era + era * 400 + (date.month <= 2 ? 1 : 0);
  date.day = day_of_year - (153 * month + 2) / 5 + 1;
  return date;
}

template <typename Int>
std::optional<Int> WholeInteger(std::string_view text) {
  Int value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Takes text apart from the front.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  std::string_view rest() const { return rest_; }
  bool Accept(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  // Between `digits_min` and `digits_max` digits; their text.
  std::optional<std::string_view> Digits(size_t digits_min, size_t digits_max) {
    size_t count = 0;
    while (count < rest_.size() && rest_[count] >= '0' && rest_[count] <= '9') ++count;
    if (count < digits_min || count > digits_max) return std::nullopt;
    const std::string_view digits = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return digits;
  }
  std::optional<int64_t> Number(size_t digits_min, size_t digits_max) {
    LS_DCHECK(digits_max <= 18, "a number has to fit in 64 bits");
    const std::optional<std::string_view> digits = Digits(digits_min, digits_max);
    return digits ? WholeInteger<int64_t>(*digits) : std::nullopt;
  }

 private:
  std::string_view rest_;
};

std::string Padded(int64_t number, size_t digits) {
  std::string text = std::to_string(number);
  if (text.size() < digits) text.insert(0, digits - text.size(), '0');
  return text;
}

// Z, +hh:mm, +hhmm or +hh, up to the end; in minutes.
std::optional<int64_t> ParseZone(Reader& reader) {
  if (reader.rest().empty()) return 0;
  if (reader.rest() == "z") return 0;
  const bool negative = reader.rest().starts_with('-');
  if (!reader.Accept('+') && !reader.Accept('-')) return std::nullopt;
  std::string_view rest = reader.rest();
  Reader hours_and_minutes(rest);
  const std::optional<std::string_view> digits = hours_and_minutes.Digits(2, 4);
  if (!digits) return std::nullopt;
  const std::optional<int64_t> hours = WholeInteger<int64_t>(digits->substr(0, 2));
  std::optional<int64_t> minutes = 0;
  if (digits->size() == 4) {
    minutes = WholeInteger<int64_t>(digits->substr(2));
  } else if (digits->size() == 3) {
    return std::nullopt;
  } else if (hours_and_minutes.Accept(':')) {
    minutes = hours_and_minutes.Number(2, 2);
  }
  if (!hours || !minutes || *hours > 23 || *minutes > 59) return std::nullopt;
  if (!hours_and_minutes.rest().empty()) return std::nullopt;
  return (*hours * 60 + *minutes) * (negative ? -1 : 1);
}

// ---- Timestamps. Source: ScyllaDB types/types.cc, timestamp_from_string, get_time; what it says
// of numbers that are none of a date are Boost's words.

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
  }
  return lower;
}

// The digits at the front, as many as there are; nullopt: none, and `reader` stays.
std::optional<std::string_view> AllDigits(Reader& reader) {
  return reader.Digits(1, reader.rest().size());
}

std::string CheckCalendar(const CivilDate& date) {
  constexpr std::string_view kType = "boost::wrapexcept<boost::gregorian::";
  if (date.year < kYearMin || date.year > kYearMax) {
    return std::string(kType) + "bad_year> (Year is out of valid range: 1400..9999)";
  }
  if (date.month < 1 || date.month > 12) {
    return std::string(kType) + "bad_month> (Month number is out of range 1..12)";
  }
  if (date.day < 1 || date.day > 31) {
    return std::string(kType) + "bad_day_of_month> (Day of month value is out of range 1..31)";
  }
  if (IsRealDate(date)) return "";
  return std::string(kType) + "bad_day_of_month> (Day of month is not valid for year)";
}

// What follows the date: (t| )hh:mm[:ss[.fff]], as far as that form goes. Hours may be more than a
// day, and so on. What is wrong with it goes into `flaw`.
int64_t TakeClock(Reader& reader, std::string& flaw) {
  const auto number = [&](std::string_view digits) -> int64_t {
    const std::optional<int32_t> value = WholeInteger<int32_t>(digits);
    if (!value) {
      flaw =
          "boost::wrapexcept<boost::bad_lexical_cast> (bad lexical cast: source type value "
          "could not be interpreted as target)";
    }
    return value.value_or(0);
  };
  Reader ahead = reader;
  if (!ahead.Accept(' ') && !ahead.Accept('t')) return 0;
  const std::optional<std::string_view> hours = AllDigits(ahead);
  if (!hours || !ahead.Accept(':')) return 0;
  const std::optional<std::string_view> minutes = AllDigits(ahead);
  if (!minutes) return 0;
  int64_t milliseconds = (number(*hours) * 60 + number(*minutes)) * 60'000;
  reader = ahead;
  if (!ahead.Accept(':')) return milliseconds;
  const std::optional<std::string_view> seconds = AllDigits(ahead);
  if (!seconds) return milliseconds;
  milliseconds += number(*seconds) * 1000;
  reader = ahead;
  if (!ahead.Accept('.')) return milliseconds;
  const std::optional<std::string_view> fraction = AllDigits(ahead);
  if (!fraction) return milliseconds;
  reader = ahead;
  if (fraction->size() > 3) {
    flaw = "marshaling error: Milliseconds length exceeds expected (" +
           std::to_string(fraction->size()) + ")";
    return milliseconds;
  }
  int64_t value = number(*fraction);
  for (size_t i = fraction->size(); i < 3; ++i) value *= 10;
  return milliseconds + value;
}

// A whole number as strtoll reads it: the nearest of 64 bits.
std::optional<int64_t> WholeNumberOf(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t\n\v\f\r"), text.size()));
  const bool negative = text.starts_with('-');
  if (text.starts_with('+')) text.remove_prefix(1);
  const std::string_view digits = text.substr(negative ? 1 : 0);
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string_view::npos) {
    return std::nullopt;
  }
  const auto nearest =
      negative ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
  return WholeInteger<int64_t>(text).value_or(nearest);
}

}  // namespace

CqlOr<int64_t> ParseTimestampText(std::string_view text) {
  if (const std::optional<int64_t> milliseconds = WholeNumberOf(text)) return *milliseconds;
  const std::string lower = Lower(text);
  const auto fail = [&](const std::string& why) {
    return CqlError::Marshaling("unable to parse date '" + ShownText(text) + "': " + why);
  };
  Reader reader(lower);
  const std::optional<std::string_view> year = reader.Digits(4, 4);
  std::optional<std::string_view> month, day;
  if (year && reader.Accept('-')) month = AllDigits(reader);
  if (month && reader.Accept('-')) day = AllDigits(reader);
  if (!day) {
    return fail("marshaling error: Unable to parse timestamp from '" + ShownText(lower) + "'");
  }
  const CivilDate date{*WholeInteger<int64_t>(*year), WholeInteger<int32_t>(*month).value_or(-1),
                       WholeInteger<int32_t>(*day).value_or(-1)};
  std::string flaw = CheckCalendar(date);
  if (!flaw.empty()) return fail(flaw);
  const int64_t clock = TakeClock(reader, flaw);
  if (!flaw.empty()) return fail(flaw);
  const std::string zone = ShownText(reader.rest());
  const std::optional<int64_t> offset_minutes = ParseZone(reader);
  if (!offset_minutes) return fail("marshaling error: Unable to parse timezone '" + zone + "'");
  return DaysOf(date) * kMillisPerDay + clock - *offset_minutes * 60'000;
}

// Source: ScyllaDB types/types.cc, simple_date_type_impl::from_string_view.
CqlOr<uint32_t> ParseDateText(std::string_view text) {
  if (const std::optional<uint32_t> days = WholeInteger<uint32_t>(text)) return *days;
  if (const std::optional<int64_t> number = WholeNumberOf(text)) {
    return CqlError::Marshaling("Unable to make unsigned int (for date) from " +
                                std::to_string(*number));
  }
  const CqlError failure =
      CqlError::Marshaling("Unable to coerce '" + ShownText(text) + "' to a formatted date (long)");
  Reader reader(text);
  const bool negative = reader.Accept('-');
  // Dates end in the year 5881580: nine digits are more than enough, and keep sums in 64 bits.
  const std::optional<int64_t> year = reader.Number(1, 9);
  if (!year || !reader.Accept('-')) return failure;
  const std::optional<int64_t> month = reader.Number(1, 9);
  if (!month || !reader.Accept('-')) return failure;
  const std::optional<int64_t> day = reader.Number(1, 9);
  if (!day || !reader.rest().empty()) return failure;
  // Nobody looks whether there is such a day: the 30th of February is the 2nd of March. Months and
  // days are kept as bytes.
  const CivilDate date{negative ? -*year : *year, *month & 0xff, *day & 0xff};
  const int64_t days = DaysOf(date) + kEpochDay;
  if (days < 0) {
    return CqlError::Marshaling("Input date " + ShownText(text) +
                                " is less than min supported date -5877641-06-23");
  }
  if (days > std::numeric_limits<uint32_t>::max()) {
    return CqlError::Marshaling("Input date " + ShownText(text) +
                                " is greater than max supported date 5881580-07-11");
  }
  return static_cast<uint32_t>(days);
}

namespace {

// The number at the front, whatever follows it. Source of the failure: std::stol, whose exceptions
// say no more.
CqlOr<int64_t> NumberAtFront(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t\n\v\f\r"), text.size()));
  if (text.starts_with('+')) text.remove_prefix(1);
  int64_t number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc()) return CqlError::Server("stol");
  return number;
}

CqlError OutOfBounds(std::string_view what, int64_t value) {
  return CqlError::Marshaling(std::string(what) + " out of bounds (" + std::to_string(value) +
                              ").");
}

}  // namespace

// Source: ScyllaDB types/types.cc, time_type_impl::from_string_view.
CqlOr<int64_t> ParseTimeText(std::string_view text) {
  const CqlError failure = CqlError::Marshaling("Timestamp format must be hh:mm:ss[.fffffffff]");
  const size_t first = text.find(':');
  if (first == std::string_view::npos) return failure;
  LS_ASSIGN_OR_RETURN(const int64_t hours, NumberAtFront(text.substr(0, first)));
  if (hours < 0 || hours >= 24) return OutOfBounds("Hour", hours);
  const size_t second = text.find(':', first + 1);
  if (second == std::string_view::npos) return failure;
  LS_ASSIGN_OR_RETURN(const int64_t minutes, NumberAtFront(text.substr(first + 1)));
  if (minutes < 0 || minutes >= 60) return OutOfBounds("Minute", minutes);
  LS_ASSIGN_OR_RETURN(const int64_t seconds, NumberAtFront(text.substr(second + 1)));
  if (seconds < 0 || seconds >= 60) return OutOfBounds("Second", seconds);
  const size_t point = text.find('.', second + 1);
  int64_t fraction = 0;
  if (point != std::string_view::npos) {
    const std::string_view digits = text.substr(point + 1);
    LS_ASSIGN_OR_RETURN(fraction, NumberAtFront(digits));
    if (digits.size() > 9) {
      return CqlError::Marshaling("more than 9 nanosecond digits: " + ShownText(text));
    }
    for (size_t i = digits.size(); i < 9; ++i) fraction *= 10;
    if (fraction < 0 || fraction >= kNanosPerSecond) return OutOfBounds("Nanosecond", fraction);
  }
  return ((hours * 60 + minutes) * 60 + seconds) * kNanosPerSecond + fraction;
}

namespace {

// Whole days up to `milliseconds`, without the sum that would leave 64 bits.
int64_t DaysBefore(int64_t milliseconds) {
  return milliseconds / kMillisPerDay - (milliseconds % kMillisPerDay < 0 ? 1 : 0);
}

std::string DateText(const CivilDate& date) {
  const std::string year = (date.year < 0 ? "-" : "") + Padded(std::abs(date.year), 4);
  return year + "-" + Padded(date.month, 2) + "-" + Padded(date.day, 2);
}

}  // namespace

std::string PrintDateText(uint32_t days) { return DateText(DateOf(int64_t{days} - kEpochDay)); }

bool HasDateText(uint32_t days) {
  const int64_t year = DateOf(int64_t{days} - kEpochDay).year;
  return year >= 0 && year <= kYearMax;
}

std::string PrintTimestampText(int64_t milliseconds) {
  const int64_t of_day = (milliseconds % kMillisPerDay + kMillisPerDay) % kMillisPerDay;
  return DateText(DateOf(DaysBefore(milliseconds))) + "T" + Padded(of_day / 3'600'000, 2) + ":" +
         Padded(of_day / 60'000 % 60, 2) + ":" + Padded(of_day / 1000 % 60, 2) + "." +
         Padded(of_day % 1000, 3) + "Z";
}

std::optional<int64_t> ReadPrintedTimestamp(std::string_view text) {
  Reader reader(text);
  const bool negative = reader.Accept('-');
  // Timestamps have years of nine digits at most.
  const std::optional<int64_t> year = reader.Number(4, 9);
  const auto next = [&](char before) -> std::optional<int64_t> {
    if (!reader.Accept(before)) return std::nullopt;
    return reader.Number(2, before == '.' ? 3 : 2);
  };
  const std::optional<int64_t> month = next('-');
  const std::optional<int64_t> day = next('-');
  const std::optional<int64_t> hour = next(' ');
  const std::optional<int64_t> minute = next(':');
  const std::optional<int64_t> second = next(':');
  const std::optional<int64_t> millis = next('.');
  if (!year || !month || !day || !hour || !minute || !second || !millis) return std::nullopt;
  const CivilDate date{negative ? -*year : *year, *month, *day};
  if (!IsRealDate(date)) return std::nullopt;
  const int64_t clock = ((*hour * 60 + *minute) * 60 + *second) * 1000 + *millis;
  // From the end of the day where it is before the epoch: its beginning may be beyond 64 bits.
  const int64_t days = DaysOf(date);
  const int64_t from_end = days < 0 ? 1 : 0;
  int64_t milliseconds = 0;
  if (__builtin_mul_overflow(days + from_end, kMillisPerDay, &milliseconds) ||
      __builtin_add_overflow(milliseconds, clock - from_end * kMillisPerDay, &milliseconds)) {
    return std::nullopt;
  }
  std::string printed = PrintTimestampText(milliseconds);
  std::ranges::replace(printed, 'T', ' ');
  if (printed != text || HasTimestampText(milliseconds)) return std::nullopt;
  return milliseconds;
}

bool HasTimestampText(int64_t milliseconds) {
  const int64_t year = DateOf(DaysBefore(milliseconds)).year;
  return year >= kYearMin && year <= kYearMax;
}

std::string PrintTimeText(int64_t nanoseconds) {
  const int64_t seconds = nanoseconds / kNanosPerSecond;
  return Padded(seconds / 3600, 2) + ":" + Padded(seconds / 60 % 60, 2) + ":" +
         Padded(seconds % 60, 2) + "." + Padded(nanoseconds % kNanosPerSecond, 9);
}

}  // namespace liststore::cql
