#include "tools/query/split_statements.h"

#include <cstddef>
#include <utility>

#include "absl/strings/match.h"
#include "engine/base/strings.h"
#include "engine/cql/syntax/lexer.h"

namespace liststore {
namespace {

bool IsWord(const cql::Lexeme& token, std::string_view word) {
  return token.kind == cql::TokenKind::kWord &&
         absl::EqualsIgnoreCase(ToAbsl(token.text), ToAbsl(word));
}

// What a token without its end begins; 0: the token is no such.
char OpenedBy(std::string_view text) {
  if (text.starts_with("/*")) return '*';
  if (text.starts_with("$$")) return '$';
  return text.starts_with('\'') || (text.starts_with('"') && text != "\"\"") ? text[0] : '\0';
}

struct Split {
  TypedStatements statements;
  bool is_valid = true;  // false: a character that begins no word ends the text
};

Split SplitText(std::string_view text) {
  Split split;
  bool has_begun = false;  // the statement that is read
  size_t begin = 0;        // of it
  size_t end = 0;          // of its last token
  bool in_batch = false;
  cql::Lexeme last;
  cql::Lexer lexer(text);
  for (cql::Lexeme token = lexer.Next(); token.kind != cql::TokenKind::kEnd; token = lexer.Next()) {
    const auto at = static_cast<size_t>(token.text.data() - text.data());
    if (token.kind == cql::TokenKind::kInvalid) {
      if (!has_begun) begin = at;
      has_begun = true;
      end = text.size();
      split.statements.open = OpenedBy(token.text);
      split.is_valid = split.statements.open != 0;
      break;
    }
    if (!in_batch && token.IsSymbol(";")) {
      if (has_begun) split.statements.ended.emplace_back(text.substr(begin, end - begin));
      has_begun = false;
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
  if (has_begun) split.statements.begun = text.substr(begin, end - begin);
  return split;
}

}  // namespace

std::vector<std::string> SplitStatements(std::string_view text) {
  TypedStatements split = SplitText(text).statements;
  if (!split.begun.empty()) split.ended.push_back(std::move(split.begun));
  return std::move(split.ended);
}

TypedStatements SplitTyped(std::string_view text) {
  Split split = SplitText(text);
  std::string& begun = split.statements.begun;
  const size_t last = begun.find_last_not_of(" \t\r\n");
  // Nobody could end it otherwise.
  if (!split.is_valid && last != std::string::npos && begun[last] == ';') {
    begun.resize(last);
    split.statements.ended.push_back(std::exchange(begun, {}));
  }
  return std::move(split.statements);
}

}  // namespace liststore
