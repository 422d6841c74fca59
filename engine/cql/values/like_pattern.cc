#include "engine/cql/values/like_pattern.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>

namespace liststore::cql {
namespace {

constexpr size_t kNone = std::string_view::npos;

bool BeginsCharacter(char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }

// Behind the character that begins at `at`.
size_t BehindCharacter(std::string_view text, size_t at) {
  ++at;
  while (at < text.size() && !BeginsCharacter(text[at])) ++at;
  return at;
}

// What stands between two '%', or before the first, or behind the last.
class Segment {
 public:
  explicit Segment(std::string_view pattern) : pattern_(pattern) {
    for (size_t at = 0; at < pattern.size();) {
      const size_t literal = Literal(at);
      has_escape_ |= literal != at;
      has_wildcard_ |= literal == at && pattern[at] == '_';
      if (BeginsCharacter(pattern[literal])) ++characters_;
      at = literal + 1;
    }
  }

  size_t characters() const { return characters_; }
  bool has_wildcard() const { return has_wildcard_; }

  // Behind what it matches at `at`, or kNone.
  size_t MatchAt(std::string_view text, size_t at) const {
    for (size_t in_pattern = 0; in_pattern < pattern_.size();) {
      if (at >= text.size()) return kNone;
      const size_t literal = Literal(in_pattern);
      if (literal == in_pattern && pattern_[literal] == '_') {
        at = BehindCharacter(text, at);
      } else if (pattern_[literal] == text[at]) {
        ++at;
      } else {
        return kNone;
      }
      in_pattern = literal + 1;
    }
    return at;
  }

  // Behind what it matches first at `at` or behind it, or kNone.
  size_t Find(std::string_view text, size_t at) const {
    if (!has_wildcard_) {
      std::string without_escapes;
      std::string_view searched = pattern_;
      if (has_escape_) {
        for (size_t i = 0; i < pattern_.size(); ++i) {
          i = Literal(i);
          without_escapes += pattern_[i];
        }
        searched = without_escapes;
      }
      const size_t found = FindText(text, at, searched);
      return found == kNone ? kNone : found + searched.size();
    }
    for (; at < text.size(); at = BehindCharacter(text, at)) {
      const size_t behind = MatchAt(text, at);
      if (behind != kNone) return behind;
    }
    return kNone;
  }

  // Whether it matches what the text ends in, not before `at`.
  bool MatchesEnd(std::string_view text, size_t at) const {
    size_t begin = text.size();
    for (size_t left = characters_; left > 0; --left) {
      do {
        if (begin == at) return false;
        --begin;
      } while (!BeginsCharacter(text[begin]));
    }
    return MatchAt(text, begin) == text.size();
  }

 private:
  // Linear, which std::string_view::find is not.
  static size_t FindText(std::string_view text, size_t at, std::string_view searched) {
    const void* const found =
        ::memmem(text.data() + at, text.size() - at, searched.data(), searched.size());
    return found == nullptr ? kNone
                            : static_cast<size_t>(static_cast<const char*>(found) - text.data());
  }

  // Where the byte is that `at` means: behind a backslash.
  size_t Literal(size_t at) const {
    return pattern_[at] == '\\' && at + 1 < pattern_.size() ? at + 1 : at;
  }

  std::string_view pattern_;
  size_t characters_ = 0;
  bool has_escape_ = false;
  bool has_wildcard_ = false;
};

// Takes what stands before the next '%' off the pattern, and that; false: there is none.
bool TakeSegment(std::string_view& pattern, std::string_view& segment) {
  size_t at = 0;
  while (at < pattern.size() && pattern[at] != '%') at += pattern[at] == '\\' ? 2 : 1;
  const bool ends = at >= pattern.size();
  segment = pattern.substr(0, at);
  pattern.remove_prefix(ends ? pattern.size() : at + 1);
  return !ends;
}

}  // namespace

// What stands between two '%' goes to the first place where it fits: that leaves most of the text
// to what follows.
bool MatchesLike(std::string_view pattern, std::string_view text) {
  std::string_view part;
  if (!TakeSegment(pattern, part)) return Segment(part).MatchAt(text, 0) == text.size();
  size_t at = Segment(part).MatchAt(text, 0);
  while (at != kNone && TakeSegment(pattern, part)) {
    if (!part.empty()) at = Segment(part).Find(text, at);
  }
  return at != kNone && Segment(part).MatchesEnd(text, at);
}

size_t LikeEffort(std::string_view pattern) {
  size_t effort = 1;
  std::string_view part;
  bool is_last = false;
  for (bool is_first = true; !is_last; is_first = false) {
    is_last = !TakeSegment(pattern, part);
    const Segment segment(part);
    if (!is_first && !is_last && segment.has_wildcard()) {
      effort = std::max(effort, segment.characters());
    }
  }
  return effort;
}

CqlStatus CheckLikePattern(std::string_view pattern) {
  const size_t effort = LikeEffort(pattern);
  if (effort <= kLikeEffortMax) return {};
  return CqlError::Invalid("A pattern of LIKE with " + std::to_string(effort) +
                           " characters between two '%', '_' among them; liststore has at most " +
                           std::to_string(kLikeEffortMax));
}

}  // namespace liststore::cql
