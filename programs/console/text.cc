#include "programs/console/text.h"

#include <algorithm>
#include <ctime>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "engine/base/check.h"
#include "engine/base/seconds.h"
#include "engine/base/strings.h"
#include "engine/base/utf8.h"

namespace liststore {
namespace {

// The bytes of the character at the front of `text`; 0 when it is not to be printed as it is.
size_t PrintableCharacterBytes(std::string_view text) {
  size_t bytes = 1;
  const bool ascii = static_cast<unsigned char>(text[0]) < 0x80;
  while (!ascii && bytes < text.size() && bytes < 4 && IsWithinCharacter(text[bytes])) ++bytes;
  const std::string_view character = text.substr(0, bytes);
  if (!IsValidUtf8(character)) return 0;
  const unsigned char first = static_cast<unsigned char>(character[0]);
  const bool control = first < 0x20 || first == 0x7f ||
                       (first == 0xc2 && static_cast<unsigned char>(character[1]) < 0xa0);
  return control ? 0 : bytes;
}

}  // namespace

std::string Grouped(uint64_t number) {
  std::string text = absl::StrCat(number);
  for (size_t place = text.size(); place > 3;) text.insert(place -= 3, 1, ',');
  return text;
}

std::string Counted(uint64_t count, std::string_view what) {
  return Grouped(count) + " " + std::string(what) + (count == 1 ? "" : "s");
}

std::string Bytes(uint64_t bytes) {
  const char* const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double amount = static_cast<double>(bytes);
  size_t unit = 0;
  while (amount >= 1024 && unit + 1 < std::size(units)) {
    amount /= 1024;
    ++unit;
  }
  return unit == 0 ? absl::StrCat(bytes, " B") : absl::StrFormat("%.1f %s", amount, units[unit]);
}

std::string DurationText(uint64_t seconds) {
  const struct {
    uint64_t seconds;
    const char* name;
  } units[] = {{86'400, "d"}, {3'600, "h"}, {60, "m"}, {1, "s"}};
  for (size_t i = 0; i + 1 < std::size(units); ++i) {
    if (seconds < units[i].seconds) continue;
    return absl::StrCat(seconds / units[i].seconds, units[i].name, " ",
                        seconds % units[i].seconds / units[i + 1].seconds, units[i + 1].name);
  }
  return absl::StrCat(seconds, "s");
}

std::string UtcTime(uint64_t nanos) {
  const std::time_t seconds = static_cast<std::time_t>(nanos / kNanosPerSecond);
  std::tm parts{};
  LS_CHECK(::gmtime_r(&seconds, &parts) != nullptr, "64 bits of nanoseconds end in the year 2554");
  std::string text =
      absl::StrFormat("%04d-%02d-%02d %02d:%02d:%02d", parts.tm_year + 1900, parts.tm_mon + 1,
                      parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
  if (nanos % kNanosPerSecond != 0) absl::StrAppendFormat(&text, ".%09d", nanos % kNanosPerSecond);
  return text;
}

std::string ListName(const ListId& list) {
  return absl::StrFormat("%s/%s%s%s entity %s", Printable(list.entity_type, 60),
                         Printable(list.feature, 60), list.version.empty() ? "" : "@",
                         Printable(list.version, 60), Printable(list.entity_id, 60));
}

size_t Columns(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char byte) { return !IsWithinCharacter(byte); }));
}

std::string Printable(std::string_view value, size_t columns) {
  LS_DCHECK(columns > 0, "an ellipsis takes a column");
  std::string text;
  size_t used = 0;
  size_t cut_at = 0;  // where an ellipsis still fits
  while (!value.empty()) {
    const size_t bytes = PrintableCharacterBytes(value);
    const std::string shown =
        bytes > 0 ? std::string(value.substr(0, bytes))
                  : absl::StrFormat("\\x%02x", static_cast<unsigned char>(value[0]));
    used += bytes > 0 ? 1 : shown.size();
    if (used > columns) return text.substr(0, cut_at) + "…";
    text += shown;
    if (used < columns) cut_at = text.size();
    value.remove_prefix(std::max<size_t>(bytes, 1));
  }
  return text;
}

std::string PrintableLines(std::string_view text) {
  std::string lines;
  while (true) {
    const size_t end = text.find('\n');
    lines += Printable(text.substr(0, end), std::numeric_limits<size_t>::max());
    if (end == std::string_view::npos) return lines;
    lines += '\n';
    text.remove_prefix(end + 1);
  }
}

std::string Padded(std::string text, size_t columns) {
  const size_t used = Columns(text);
  if (used < columns) text.append(columns - used, ' ');
  return text;
}

}  // namespace liststore
