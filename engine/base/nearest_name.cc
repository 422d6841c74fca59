#include "engine/base/nearest_name.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace liststore {
namespace {

// Insertions, deletions and replacements of letters between the two, and neighbours in the wrong order.
size_t EditDistance(std::string_view a, std::string_view b) {
  // Of the first letters of `a` to those of `b`: of the letter before the last, of the last, and of
  // this one.
  std::vector<size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    before.swap(last);
    last.swap(row);
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, last[j] + 1, row[j - 1] + 1});
      const bool is_swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (is_swapped) row[j] = std::min(row[j], before[j - 2] + 1);
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
