// Where in a statement an error is.
#ifndef LISTSTORE_TOOLS_CONSOLE_ERROR_PLACE_H_
#define LISTSTORE_TOOLS_CONSOLE_ERROR_PLACE_H_

#include <string>
#include <string_view>

namespace liststore {

// The line of `statement` that the server's words name ("line 1:9 : Missing FROM"), and below it a caret under
// the byte; two lines. Of a line that is long what is around it. Empty: the words name none.
std::string ErrorPlace(std::string_view statement, std::string_view words);

}  // namespace liststore

#endif  // LISTSTORE_TOOLS_CONSOLE_ERROR_PLACE_H_
