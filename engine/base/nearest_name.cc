#include "engine/base/nearest_name.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace liststore {
namespace {

// Insertions, deletions and replacements of letters between the two.
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string_view NearestName(std::string_view name, std::span<const std::string_view> names) {
  std::string_view nearest;
  // More than a third of the letters wrong is another name.
  size_t best = std::max<size_t>(name.size() / 3, 1) + 1;
  for (const std::string_view known : names) {
    const size_t distance = EditDistance(name, known);
    if (distance >= best) continue;
    best = distance;
    nearest = known;
  }
  return nearest;
}

std::string DidYouMean(std::string_view name, std::span<const std::string_view> names) {
  const std::string_view nearest = NearestName(name, names);
  if (nearest.empty()) return "";
  return "; did you mean " + std::string(nearest) + "?";
}

}  // namespace liststore
