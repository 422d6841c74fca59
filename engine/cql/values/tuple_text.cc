// EncodeTupleText: a constant for a tuple. Declared in literal.h.
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/status_macros.h"
#include "engine/cql/values/literal.h"
#include "engine/model/types/composite_value.h"

namespace liststore::cql {
namespace {

// Between the colons that no backslash stands before; nothing of an empty text.
std::vector<std::string_view> SplitFieldTexts(std::string_view text) {
  std::vector<std::string_view> fields;
  if (text.empty()) return fields;
  size_t begin = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != ':' || (i > 0 && text[i - 1] == '\\')) continue;
    fields.push_back(text.substr(begin, i - begin));
    begin = i + 1;
  }
  fields.push_back(text.substr(begin));
  return fields;
}

// `\:` and `\@` stand for the characters.
std::string UnescapeFieldText(std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool escapes =
        text[i] == '\\' && i + 1 < text.size() && (text[i + 1] == ':' || text[i + 1] == '@');
    plain.push_back(text[escapes ? ++i : i]);
  }
  return plain;
}

CqlOr<std::string> EncodeFieldText(const std::string& text, const DataType& type) {
  if (type.is_native()) return EncodeText(text, type.native());
  if (type.has_fields()) return EncodeTupleText(text, type);
  return CqlError::Marshaling("a collection, of type " + type.ToString() +
                              ", cannot be written within the text of a tuple");
}

}  // namespace

// Source: ScyllaDB types/types.cc, from_string_visitor.
CqlOr<std::string> EncodeTupleText(std::string_view text, const DataType& type) {
  const std::vector<std::string_view> fields = SplitFieldTexts(text);
  const std::vector<DataType>& types = type.parameters();
  if (fields.size() > types.size()) {
    return CqlError::Marshaling("Invalid tuple literal: too many elements. Type " +
                                type.ToString() + " expects " + std::to_string(types.size()) +
                                " but got " + std::to_string(fields.size()));
  }
  std::vector<std::optional<std::string>> values;
  for (size_t i = 0; i < fields.size(); ++i) {
    if (fields[i] == "@") {
      values.emplace_back();
      continue;
    }
    LS_ASSIGN_OR_RETURN(std::string value, EncodeFieldText(UnescapeFieldText(fields[i]), types[i]));
    values.emplace_back(std::move(value));
  }
  return EncodeTuple(values);
}

}  // namespace liststore::cql
