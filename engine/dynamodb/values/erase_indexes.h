// Elements taken out of a vector, and put into a sorted one, in one pass: what one by one moves the rest each
// time.
#ifndef LISTSTORE_ENGINE_DYNAMODB_VALUES_ERASE_INDEXES_H_
#define LISTSTORE_ENGINE_DYNAMODB_VALUES_ERASE_INDEXES_H_

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace liststore::dynamodb {

// `indexes`: of elements that are there, ascending, each once. Moves each of the others once at most.
template <typename T>
void EraseIndexes(std::vector<T>& elements, std::span<const size_t> indexes) {
  if (indexes.empty()) return;
  size_t to = indexes.front();
  size_t next = 0;
  for (size_t from = to; from < elements.size(); ++from) {
    if (next < indexes.size() && indexes[next] == from) {
      ++next;
    } else {
      elements[to++] = std::move(elements[from]);
    }
  }
  elements.erase(elements.begin() + static_cast<std::ptrdiff_t>(to), elements.end());
}

// `added`: ascending by `less`, none of them among the elements, which are as well. Moves each once.
template <typename T, typename Less>
void MergeInto(std::vector<T>& elements, std::vector<T> added, Less less) {
  if (added.empty()) return;
  std::vector<T> merged;
  merged.reserve(elements.size() + added.size());
  auto next = elements.begin();
  for (T& element : added) {
    while (next != elements.end() && less(*next, element)) merged.push_back(std::move(*next++));
    merged.push_back(std::move(element));
  }
  while (next != elements.end()) merged.push_back(std::move(*next++));
  elements = std::move(merged);
}

}  // namespace liststore::dynamodb

#endif  // LISTSTORE_ENGINE_DYNAMODB_VALUES_ERASE_INDEXES_H_
