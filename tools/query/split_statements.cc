#include "tools/query/split_statements.h"

#include <cstddef>

#include "absl/strings/match.h"
#include "engine/base/strings.h"
#include "engine/cql/syntax/lexer.h"

namespace liststore {
namespace {

bool IsWord(const cql::Lexeme& token, std::string_view word) {
  return token.kind == cql::TokenKind::kWord &&
         absl::EqualsIgnoreCase(ToAbsl(token.text), ToAbsl(word));
}

}  // namespace

std::vector<std::string> SplitStatements(std::string_view text) {
  std::vector<std::string> statements;
  bool has_begun = false;  // the statement that is read
  size_t begin = 0;        // of it
  size_t end = 0;          // of its last token
  bool in_batch = false;
  cql::Lexeme last;
  cql::Lexer lexer(text);
  const auto finish = [&] {
    if (has_begun) statements.emplace_back(text.substr(begin, end - begin));
    has_begun = false;
    in_batch = false;
  };
  for (cql::Lexeme token = lexer.Next(); token.kind != cql::TokenKind::kEnd; token = lexer.Next()) {
    const auto at = static_cast<size_t>(token.text.data() - text.data());
    if (token.kind == cql::TokenKind::kInvalid) {
      if (!has_begun) begin = at;
      has_begun = true;
      end = text.size();
      break;
    }
    if (!in_batch && token.IsSymbol(";")) {
      finish();
      continue;
    }
    if (!has_begun) {
      has_begun = true;
      begin = at;
      in_batch = IsWord(token, "BEGIN");
    }
    if (in_batch && IsWord(last, "APPLY") && IsWord(token, "BATCH")) in_batch = false;
    end = at + token.text.size();
    last = token;
  }
  finish();
  return statements;
}

}  // namespace liststore
