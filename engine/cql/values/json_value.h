// JSON texts (RFC 8259) -> trees, and back. Errors have RapidJSON's words, which are what clients
// of ScyllaDB see.
#ifndef LISTSTORE_ENGINE_CQL_VALUES_JSON_VALUE_H_
#define LISTSTORE_ENGINE_CQL_VALUES_JSON_VALUE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/cql/syntax/cql_error.h"

namespace liststore::cql {

// Objects and arrays within one another. Source: ScyllaDB utils/rjson.hh.
inline constexpr int kJsonNestingMax = 78;
// Values of one text. `[1,1,...]` becomes 40 bytes for each, and three times that while it grows.
inline constexpr size_t kJsonValuesMax = size_t{4} << 20;

struct JsonValue;
struct JsonMember;

using JsonArray = std::vector<JsonValue>;
// Members in the order of the text; names may repeat.
using JsonObject = std::vector<JsonMember>;

// Owns everything. Numbers are integers where they are written as such and fit, else doubles:
// precision beyond that is lost, as it is in ScyllaDB.
struct JsonValue {
  std::variant<std::monostate, bool, int64_t, uint64_t, double, std::string, JsonArray, JsonObject>
      node;  // std::monostate: null; uint64_t: what int64_t does not hold

  template <typename Node>
  const Node* As() const {
    return std::get_if<Node>(&node);
  }
  bool is_null() const { return node.index() == 0; }
  bool is_string() const { return std::holds_alternative<std::string>(node); }
  bool is_number() const {
    return std::holds_alternative<int64_t>(node) || std::holds_alternative<uint64_t>(node) ||
           std::holds_alternative<double>(node);
  }
};
struct JsonMember {
  std::string name;
  JsonValue value;
};

// `text` is valid UTF-8. Server: "Parsing JSON failed: Invalid value. at 3", the byte that is
// wrong; "Max nested level reached: 78". Invalid: more than `values_max` values. Strings of the
// tree are valid UTF-8. O(bytes).
CqlOr<JsonValue> ParseJson(std::string_view text, size_t values_max = kJsonValuesMax);

// In one line without spaces, as RapidJSON writes it.
std::string PrintJson(const JsonValue& value);
// A JSON string of `text`, which is valid UTF-8: in quotes, those within it and control characters
// escaped.
std::string QuoteJson(std::string_view text);
size_t QuotedJsonBytes(std::string_view text);
// The shortest digits that are read back as the same number, which is finite: with a point or an
// exponent, as RapidJSON writes doubles; and without either where it is whole and not too long, as
// ScyllaDB writes floats and doubles.
std::string PrintJsonNumber(double number);
std::string PrintShortest(double number);
std::string PrintShortest(float number);

}  // namespace liststore::cql

#endif  // LISTSTORE_ENGINE_CQL_VALUES_JSON_VALUE_H_
