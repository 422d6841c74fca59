#include "engine/cql/like_pattern.h"

#include <cstddef>

namespace liststore {
namespace {

// Behind the character that begins at `at`.
size_t BehindCharacter(std::string_view text, size_t at) {
  ++at;
  while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80) ++at;
  return at;
}

}  // namespace

// What stands between two '%' goes to the first place where it fits: that leaves most of the text
// to what follows, so that only the last '%' is ever tried again.
bool MatchesLike(std::string_view pattern, std::string_view text) {
  size_t in_pattern = 0;
  size_t in_text = 0;
  size_t behind_wildcard = std::string_view::npos;  // of the last '%'
  size_t wildcard_end = 0;                          // of what that '%' stands for, in the text
  while (in_text < text.size()) {
    if (in_pattern < pattern.size()) {
      const char next = pattern[in_pattern];
      if (next == '%') {
        behind_wildcard = ++in_pattern;
        wildcard_end = in_text;
        continue;
      }
      if (next == '_') {
        ++in_pattern;
        in_text = BehindCharacter(text, in_text);
        continue;
      }
      const size_t literal =
          next == '\\' && in_pattern + 1 < pattern.size() ? in_pattern + 1 : in_pattern;
      if (pattern[literal] == text[in_text]) {
        in_pattern = literal + 1;
        ++in_text;
        continue;
      }
    }
    if (behind_wildcard == std::string_view::npos) return false;
    wildcard_end = BehindCharacter(text, wildcard_end);
    in_text = wildcard_end;
    in_pattern = behind_wildcard;
  }
  return pattern.find_first_not_of('%', in_pattern) == std::string_view::npos;
}

}  // namespace liststore
