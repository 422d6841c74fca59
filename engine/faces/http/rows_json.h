// RESULT frames -> JSON: what statements that came over HTTP are answered.
#ifndef LISTSTORE_ENGINE_FACES_HTTP_ROWS_JSON_H_
#define LISTSTORE_ENGINE_FACES_HTTP_ROWS_JSON_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "engine/protocol/frame.h"

namespace liststore::http_face {

struct JsonResult {
  // {"columns":[{"name":"ts","type":"int"}],"rows":[{"ts":1}]}, and what there is of "paging_state"
  // (hexadecimal), "warnings" and "keyspace". A line.
  std::string text;
  // Why there is none: the answer would be too large, or a value has no JSON.
  std::optional<std::string> refusal;
};

// `frame`: a whole RESULT frame, not compressed, as a handler has written it. Values are as SELECT JSON
// writes them; columns of one name come one behind the other. O(bytes).
JsonResult ToJson(std::string_view frame, size_t bytes_max);

}  // namespace liststore::http_face

#endif  // LISTSTORE_ENGINE_FACES_HTTP_ROWS_JSON_H_
