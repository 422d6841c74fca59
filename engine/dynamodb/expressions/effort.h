// Effort: how much of items and values a condition has looked at, and the most it may.
#ifndef LISTSTORE_ENGINE_DYNAMODB_EXPRESSIONS_EFFORT_H_
#define LISTSTORE_ENGINE_DYNAMODB_EXPRESSIONS_EFFORT_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/dynamodb/values/error.h"

namespace liststore::dynamodb {

// Conditions are evaluated while lanes are held: 4 KB of expression look at an item of 400 KB two hundred
// times. What is looked at is counted before it is looked at, in bytes that are compared once; steps that
// take longer count as more. One thread.
class Effort {
 public:
  // Some milliseconds. The largest item whole, some eighty times.
  static constexpr uint64_t kBytesMax = uint64_t{32} << 20;

  explicit Effort(uint64_t bytes_max = kBytesMax) : bytes_max_(bytes_max) {}

  // False: that is too much, and not to be done.
  [[nodiscard]] bool Spend(uint64_t bytes) {
    bytes_ += bytes;
    return !is_exceeded();
  }
  uint64_t bytes() const { return bytes_; }
  bool is_exceeded() const { return bytes_ > bytes_max_; }
  // A validation error that names the limit. Amazon has none: its limits of items and expressions are all
  // there is.
  Error Exceeded() const {
    return Invalid("A condition or filter may look at " + std::to_string(bytes_max_) +
                   " bytes of the item and of values at most");
  }

 private:
  uint64_t bytes_max_;
  uint64_t bytes_ = 0;
};

// Whether `part` is a piece of `text`. O(bytes of both) whatever they are, and counted; false as well where
// that is too much. Source of the second half: Knuth, Morris and Pratt, "Fast pattern matching in strings",
// 1977.
bool IsPieceOf(std::string_view part, std::string_view text, Effort& effort);

}  // namespace liststore::dynamodb

#endif  // LISTSTORE_ENGINE_DYNAMODB_EXPRESSIONS_EFFORT_H_
