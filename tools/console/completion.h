// What may follow at the cursor of a statement that is being typed.
#ifndef LISTSTORE_TOOLS_CONSOLE_COMPLETION_H_
#define LISTSTORE_TOOLS_CONSOLE_COMPLETION_H_

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace liststore {

// Names as the server has them, not quoted.
struct SchemaNames {
  using Columns = std::vector<std::string>;
  using Tables = std::map<std::string, Columns>;
  // By keyspace, and there by table.
  std::map<std::string, Tables> keyspaces = {};
};

struct Completion {
  // Where in the text the word begins that these would take the place of.
  size_t begin = 0;
  // Sorted, each once, as they are to be written: names quoted where they have to be; keywords in capitals,
  // unless the word begins with a small letter.
  std::vector<std::string> words = {};
};

// What may stand in the place of the word that `before`, the text up to the cursor, ends with. `keyspace` is
// the one in use, maybe empty. Keywords at the begin of a statement; tables and keyspaces behind FROM, INTO,
// UPDATE and their like; keyspaces behind USE; else the columns of the tables that `before` or `behind` names,
// and keywords. Nothing within strings and comments. `schema` is asked where names are wanted alone.
// O(bytes of the text + names).
Completion Complete(std::string_view before, std::string_view behind, const std::string& keyspace,
                    const std::function<const SchemaNames&()>& schema);

// What all of them begin with.
std::string CommonBeginning(const std::vector<std::string>& words);

}  // namespace liststore

#endif  // LISTSTORE_TOOLS_CONSOLE_COMPLETION_H_
