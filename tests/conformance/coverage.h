// What the generators of a test have made: how often, by kind.
#ifndef LISTSTORE_TESTS_CONFORMANCE_COVERAGE_H_
#define LISTSTORE_TESTS_CONFORMANCE_COVERAGE_H_

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace liststore::testing {

// Kinds are string constants.
class Coverage {
 public:
  void Count(std::string_view kind) { ++counts_[kind]; }
  // Those of `kinds` that were never made, one a line.
  std::string Missing(std::span<const std::string_view> kinds) const {
    std::string missing;
    for (const std::string_view kind : kinds) {
      if (!counts_.contains(kind)) missing += "  " + std::string(kind) + "\n";
    }
    return missing;
  }
  std::string ToString() const {
    std::string text;
    for (const auto& [kind, count] : counts_) {
      text += "  " + std::to_string(count) + " " + std::string(kind) + "\n";
    }
    return text;
  }

 private:
  std::map<std::string_view, uint64_t> counts_;
};

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_CONFORMANCE_COVERAGE_H_
