// A text of several statements -> the statements.
#ifndef LISTSTORE_TOOLS_QUERY_SPLIT_STATEMENTS_H_
#define LISTSTORE_TOOLS_QUERY_SPLIT_STATEMENTS_H_

#include <string>
#include <string_view>
#include <vector>

namespace liststore {

// Parted by `;`, without it; what is between BEGIN and APPLY BATCH is one. Comments stay where they
// are within a statement, and are none by themselves. From a character on that begins no
// word of CQL the rest is one statement, so that the server says what is wrong. O(bytes).
std::vector<std::string> SplitStatements(std::string_view text);

// The same of a text that is being typed.
struct TypedStatements {
  std::vector<std::string> ended;  // by a `;`
  std::string begun;  // what is behind the last of them; empty: nothing but blanks and comments
  // What the text stops in: `'`, `"` and `$` of a string or name, `*` of a comment; 0: none of them.
  char open = 0;
};
// A line that holds a character of no word of CQL ends a statement where it ends with `;`.
TypedStatements SplitTyped(std::string_view text);

}  // namespace liststore

#endif  // LISTSTORE_TOOLS_QUERY_SPLIT_STATEMENTS_H_
