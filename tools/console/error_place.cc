#include "tools/console/error_place.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>

#include "programs/console/text.h"

namespace liststore {
namespace {

// What of a line is shown before and behind the place.
constexpr size_t kBytesBefore = 50;
constexpr size_t kBytesBehind = 25;

struct Place {
  size_t line = 0;    // from 1
  size_t column = 0;  // from 0
};

std::optional<Place> PlaceIn(std::string_view words) {
  constexpr std::string_view kLine = "line ";
  const size_t at = words.find(kLine);
  if (at == std::string_view::npos) return std::nullopt;
  Place place;
  const char* const end = words.data() + words.size();
  const auto line = std::from_chars(words.data() + at + kLine.size(), end, place.line);
  if (line.ec != std::errc() || line.ptr == end || *line.ptr != ':') return std::nullopt;
  const auto column = std::from_chars(line.ptr + 1, end, place.column);
  if (column.ec != std::errc() || place.line == 0) return std::nullopt;
  return place;
}

}  // namespace

std::string ErrorPlace(std::string_view statement, std::string_view words) {
  const std::optional<Place> place = PlaceIn(words);
  if (!place) return "";
  std::string_view line = statement;
  for (size_t i = 1; i < place->line; ++i) {
    const size_t end = line.find('\n');
    if (end == std::string_view::npos) return "";
    line.remove_prefix(end + 1);
  }
  line = line.substr(0, line.find('\n'));
  if (place->column > line.size()) return "";
  size_t begin = place->column > kBytesBefore ? place->column - kBytesBefore : 0;
  while (begin < place->column && IsWithinCharacter(line[begin])) ++begin;
  size_t end = std::min(line.size(), place->column + kBytesBehind);
  while (end < line.size() && IsWithinCharacter(line[end])) ++end;
  const std::string before =
      Printable(line.substr(begin, place->column - begin), line.size() * 4 + 1);
  const std::string behind =
      Printable(line.substr(place->column, end - place->column), line.size() * 4 + 1);
  const std::string cut = begin > 0 ? "..." : "";
  return cut + before + behind + (end < line.size() ? "..." : "") + '\n' +
         std::string(cut.size() + Columns(before), ' ') + "^\n";
}

}  // namespace liststore
