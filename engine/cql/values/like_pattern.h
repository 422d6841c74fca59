// LIKE: texts by a pattern.
#ifndef LISTSTORE_ENGINE_CQL_VALUES_LIKE_PATTERN_H_
#define LISTSTORE_ENGINE_CQL_VALUES_LIKE_PATTERN_H_

#include <cstddef>
#include <string_view>

#include "engine/cql/syntax/cql_error.h"

namespace liststore::cql {

// Whether the whole of `text` is as `pattern` says: '%' stands for any number of characters, '_'
// for one, a backslash takes the meaning from what follows it and, as the last character, is
// itself. Both are UTF-8 and case counts. An empty pattern is that of the empty text. Source:
// ScyllaDB utils/like_matcher.cc. O(pattern + text), but for '_' between two '%': see LikeEffort.
bool MatchesLike(std::string_view pattern, std::string_view text);

// How often MatchesLike may look at a character of a text: as often as there are characters between
// two '%' where one of them is '_', at most.
size_t LikeEffort(std::string_view pattern);
// Of patterns that clients may ask for: a row is looked at while its lane is held. ScyllaDB, whose
// patterns are regular expressions, gives up while it matches.
inline constexpr size_t kLikeEffortMax = 256;
// Invalid: it wants more.
CqlStatus CheckLikePattern(std::string_view pattern);

}  // namespace liststore::cql

#endif  // LISTSTORE_ENGINE_CQL_VALUES_LIKE_PATTERN_H_
