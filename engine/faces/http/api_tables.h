// ApiTable: which tables of the keyspace liststore the API shows, and what may be written to them.
#ifndef LISTSTORE_ENGINE_FACES_HTTP_API_TABLES_H_
#define LISTSTORE_ENGINE_FACES_HTTP_API_TABLES_H_

#include <cstdint>
#include <span>
#include <string_view>

namespace liststore::http_face {

enum class JsonType : uint8_t {
  kString,
  kInteger,
  kNumber,
  kBoolean,
  kStrings
};

// What a column of texts holds, for who looks for one of them.
enum class ApiWords : uint8_t {
  kNone,         // whatever it is, as it is
  kOperation,    // SELECT, INSERT, ...
  kConsistency,  // ONE, LOCAL_QUORUM, ...
  kLowerCase     // read_timeout, ...
};

struct ApiColumn {
  std::string_view name;
  JsonType type = JsonType::kString;
  bool is_written = false;
  std::string_view description;
  ApiWords words = ApiWords::kNone;
};

// A table as a resource, /api/<name>: GET reads its rows; POST writes one, as INSERT does, and answers
// with the rows behind it; DELETE empties it.
struct ApiTable {
  std::string_view name;
  std::string_view summary;
  // Of a table of one row its key, which is understood; empty: a row says it.
  std::string_view key_column = {};
  std::string_view key = {};
  bool can_be_written = false;
  bool can_be_emptied = false;
  bool has_rows_by_name = false;  // DELETE /api/<name>/{name} removes one
  std::span<const ApiColumn> columns = {};
};

std::span<const ApiTable> ApiTables();

}  // namespace liststore::http_face

#endif  // LISTSTORE_ENGINE_FACES_HTTP_API_TABLES_H_
