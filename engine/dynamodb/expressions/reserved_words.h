// Words that are no attribute's name in an expression.
#ifndef LISTSTORE_ENGINE_DYNAMODB_EXPRESSIONS_RESERVED_WORDS_H_
#define LISTSTORE_ENGINE_DYNAMODB_EXPRESSIONS_RESERVED_WORDS_H_

#include <string_view>

namespace liststore::dynamodb {

// In any case: 573 words. O(log of them).
bool IsReservedWord(std::string_view name);

}  // namespace liststore::dynamodb

#endif  // LISTSTORE_ENGINE_DYNAMODB_EXPRESSIONS_RESERVED_WORDS_H_
