#include "engine/dynamodb/expressions/effort.h"

#include <cstddef>
#include <cstring>
#include <vector>

namespace liststore::dynamodb {
namespace {

// A place where the part's first byte stands costs as much as so many bytes.
constexpr uint64_t kCandidateBytes = 8;
// And a step of the automaton.
constexpr uint64_t kStepBytes = 4;

// How many bytes both begin with.
size_t CommonBytes(std::string_view a, std::string_view b) {
  const size_t shorter = a.size() < b.size() ? a.size() : b.size();
  size_t at = 0;
  while (at + sizeof(uint64_t) <= shorter &&
         std::memcmp(a.data() + at, b.data() + at, sizeof(uint64_t)) == 0) {
    at += sizeof(uint64_t);
  }
  while (at < shorter && a[at] == b[at]) ++at;
  return at;
}

// Steps: at most twice the bytes of either.
bool IsPieceByAutomaton(std::string_view part, std::string_view text) {
  // Of each beginning of the part how long the longest shorter beginning is that it ends with.
  std::vector<uint32_t> falls_back_to(part.size());
  size_t same = 0;
  for (size_t i = 1; i < part.size(); ++i) {
    while (same > 0 && part[i] != part[same]) same = falls_back_to[same - 1];
    if (part[i] == part[same]) ++same;
    falls_back_to[i] = static_cast<uint32_t>(same);
  }
  same = 0;
  for (const char c : text) {
    while (same > 0 && c != part[same]) same = falls_back_to[same - 1];
    if (c == part[same]) ++same;
    if (same == part.size()) return true;
  }
  return false;
}

}  // namespace

bool IsPieceOf(std::string_view part, std::string_view text, Effort& effort) {
  if (part.empty()) return true;
  if (part.size() > text.size() || !effort.Spend(text.size())) return false;
  // Most texts are searched fastest place by place; those that are made to take long are not.
  uint64_t spent = 0;
  while (part.size() <= text.size()) {
    const void* const found = std::memchr(text.data(), part[0], text.size() - part.size() + 1);
    if (found == nullptr) return false;
    text.remove_prefix(static_cast<size_t>(static_cast<const char*>(found) - text.data()));
    const size_t common = CommonBytes(part, text);
    if (common == part.size()) return true;
    const uint64_t of_place = kCandidateBytes + common;
    if (!effort.Spend(of_place)) return false;
    spent += of_place;
    text.remove_prefix(1);
    if (spent > 2 * text.size() + part.size()) {
      return effort.Spend(kStepBytes * (part.size() + text.size())) &&
             IsPieceByAutomaton(part, text);
    }
  }
  return false;
}

}  // namespace liststore::dynamodb
