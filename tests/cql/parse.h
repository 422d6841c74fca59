// Short words for tests of the parser.
#ifndef LISTSTORE_TESTS_CQL_PARSE_H_
#define LISTSTORE_TESTS_CQL_PARSE_H_

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "engine/cql/syntax/cql_error.h"
#include "engine/cql/syntax/parser.h"
#include "engine/cql/syntax/statement.h"

namespace liststore::testing {

// The statement of that kind; fails the test, and is empty, when the text is something else.
template <typename Kind>
Kind Parsed(std::string_view text, std::vector<std::string>* markers = nullptr) {
  cql::CqlOr<cql::Statement> statement = cql::ParseStatement(text);
  if (!statement.ok()) {
    ADD_FAILURE() << text << "\n" << statement.error().message;
    return {};
  }
  if (markers != nullptr) *markers = statement->markers;
  Kind* kind = std::get_if<Kind>(&statement->node);
  if (kind == nullptr) {
    ADD_FAILURE() << text << "\nis alternative " << statement->node.index();
    return {};
  }
  return std::move(*kind);
}

// The message of the refusal, with its code in front when that is not Syntax.
inline std::string Refusal(std::string_view text) {
  const cql::CqlOr<cql::Statement> statement = cql::ParseStatement(text);
  if (statement.ok()) return "parsed";
  if (statement.error().code == CqlErrorCode::kSyntax) return statement.error().message;
  return std::to_string(static_cast<uint32_t>(statement.error().code)) + " " +
         statement.error().message;
}

template <typename T>
std::string Joined(const std::vector<T>& parts) {
  std::string text;
  for (const T& part : parts) {
    if (!text.empty()) text += " | ";
    if constexpr (std::is_same_v<T, std::string>) {
      text += part;
    } else {
      text += cql::ToString(part);
    }
  }
  return text;
}

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_CQL_PARSE_H_
