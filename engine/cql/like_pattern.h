// LIKE: texts by a pattern.
#ifndef LISTSTORE_ENGINE_CQL_LIKE_PATTERN_H_
#define LISTSTORE_ENGINE_CQL_LIKE_PATTERN_H_

#include <string_view>

namespace liststore {

// Whether the whole of `text` is as `pattern` says: '%' stands for any number of characters, '_'
// for one, a backslash takes the meaning from what follows it and, as the last character, is
// itself. Both are UTF-8 and case counts. An empty pattern is that of the empty text. Source:
// ScyllaDB utils/like_matcher.cc. O(pattern * text) at worst, nothing is allocated.
bool MatchesLike(std::string_view pattern, std::string_view text);

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_CQL_LIKE_PATTERN_H_
