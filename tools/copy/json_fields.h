// The fields of a row as CQL writes it in JSON, each as it stands there: numbers keep all their digits.
#ifndef LISTSTORE_TOOLS_COPY_JSON_FIELDS_H_
#define LISTSTORE_TOOLS_COPY_JSON_FIELDS_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace liststore {

struct JsonField {
  std::string_view name;   // as it stands there, with its quotation marks
  std::string_view value;  // the same
};

// The fields of an object, in their order: views into `text`. nullopt: it is no object. O(text).
std::optional<std::vector<JsonField>> FieldsOf(std::string_view text);
// Whether this is one value of JSON, and nothing else.
bool IsJsonValue(std::string_view text);
// The value with each number in it as a string.
std::string WithQuotedNumbers(std::string_view value);
// What a JSON string says; nullopt: it is none.
std::optional<std::string> TextOfJson(std::string_view value);
// The string that says it.
std::string JsonOfText(std::string_view text);

}  // namespace liststore

#endif  // LISTSTORE_TOOLS_COPY_JSON_FIELDS_H_
