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

}  // namespace liststore

#endif  // LISTSTORE_TOOLS_QUERY_SPLIT_STATEMENTS_H_
