#include "tools/console/completion.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "engine/base/strings.h"
#include "engine/cql/syntax/keywords.h"
#include "engine/cql/syntax/lexer.h"
#include "engine/cql/syntax/quoting.h"
#include "programs/console/text.h"

namespace liststore {
namespace {

using cql::Keyword;
using cql::Lexeme;
using cql::TokenKind;

#define LISTSTORE_KEYWORD_NAME(name) #name,
constexpr std::string_view kKeywords[] = {
    LISTSTORE_CQL_KEYWORDS(LISTSTORE_KEYWORD_NAME, LISTSTORE_KEYWORD_NAME, LISTSTORE_KEYWORD_NAME,
                           LISTSTORE_KEYWORD_NAME)};
#undef LISTSTORE_KEYWORD_NAME

constexpr std::string_view kBeginnings[] = {"ALTER",    "APPLY",  "BEGIN",    "CREATE", "DELETE",
                                            "DESCRIBE", "DROP",   "GRANT",    "INSERT", "LIST",
                                            "REVOKE",   "SELECT", "TRUNCATE", "UPDATE", "USE"};
constexpr std::string_view kDescribed[] = {"KEYSPACE", "KEYSPACES", "TABLE",  "TABLES",
                                           "TYPES",    "SCHEMA",    "CLUSTER"};

bool IsWordCharacter(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

// Where the word begins that the text ends with, an opening quote included.
size_t WordBegin(std::string_view text) {
  size_t begin = text.size();
  while (begin > 0 && IsWordCharacter(text[begin - 1])) --begin;
  if (begin > 0 && text[begin - 1] == '"') --begin;
  return begin;
}

struct Tokens {
  std::vector<Lexeme> all;  // of the last statement
  // The text stops in a string, a comment or a quoted name.
  bool is_open = false;
};

// Whether blanks and comments, which `text` consists of, stop in a comment that a newline would end.
bool StopsInLineComment(std::string_view text) {
  while (!text.empty()) {
    size_t end = 1;
    if (text.starts_with("/*")) {
      end = std::min(text.find("*/", 2), text.size() - 2) + 2;
    } else if (text.starts_with("--") || text.starts_with("//")) {
      end = text.find('\n');
      if (end == std::string_view::npos) return true;
    }
    text.remove_prefix(end);
  }
  return false;
}

Tokens TokensOf(std::string_view text) {
  Tokens tokens;
  size_t end = 0;  // of the last token
  cql::Lexer lexer(text);
  for (Lexeme token = lexer.Next(); token.kind != TokenKind::kEnd; token = lexer.Next()) {
    if (token.kind == TokenKind::kInvalid) {
      tokens.is_open = true;
      return tokens;
    }
    end = static_cast<size_t>(token.text.data() - text.data()) + token.text.size();
    if (token.IsSymbol(";")) {
      tokens.all.clear();
    } else {
      tokens.all.push_back(token);
    }
  }
  tokens.is_open = StopsInLineComment(text.substr(end));
  return tokens;
}

bool IsName(const Lexeme& token) {
  return token.kind == TokenKind::kWord || token.kind == TokenKind::kQuotedName;
}

bool NamesTable(Keyword keyword) {
  switch (keyword) {
    case Keyword::kFROM:
    case Keyword::kINTO:
    case Keyword::kUPDATE:
    case Keyword::kTABLE:
    case Keyword::kCOLUMNFAMILY:
    case Keyword::kTRUNCATE:
    case Keyword::kON:
      return true;
    default:
      return false;
  }
}

struct TableName {
  std::string keyspace;
  std::string table;
};

// Those that stand behind FROM and its like.
void AppendTables(const std::vector<Lexeme>& tokens, const std::string& keyspace,
                  std::vector<TableName>* tables) {
  for (size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (!NamesTable(tokens[i].keyword) || !IsName(tokens[i + 1])) continue;
    if (i + 3 < tokens.size() && tokens[i + 2].IsSymbol(".") && IsName(tokens[i + 3])) {
      tables->push_back({cql::NameOf(tokens[i + 1]), cql::NameOf(tokens[i + 3])});
    } else {
      tables->push_back({keyspace, cql::NameOf(tokens[i + 1])});
    }
  }
}

// Takes what the word can become.
class Candidates {
 public:
  explicit Candidates(std::string_view word) : word_(word) {}

  void AddName(std::string_view name, std::string_view behind = {}) {
    const std::string written = cql::QuoteIdentifier(name);
    if (Fits(written)) words_.push_back(written + std::string(behind));
  }
  void AddKeyword(std::string_view keyword) {
    // Without a letter all of them would fit, which says nothing.
    if (word_.empty() || !Fits(keyword)) return;
    const bool is_small = absl::ascii_islower(static_cast<unsigned char>(word_[0]));
    words_.push_back(is_small ? absl::AsciiStrToLower(ToAbsl(keyword)) : std::string(keyword));
  }
  template <typename Words>
  void AddBeginnings(const Words& words) {
    for (const std::string_view word : words) {
      if (word_.empty()) {
        words_.emplace_back(word);
      } else {
        AddKeyword(word);
      }
    }
  }

  std::vector<std::string> Take() {
    std::sort(words_.begin(), words_.end());
    words_.erase(std::unique(words_.begin(), words_.end()), words_.end());
    return std::move(words_);
  }

 private:
  bool Fits(std::string_view written) const {
    return absl::StartsWithIgnoreCase(ToAbsl(written), ToAbsl(word_));
  }

  const std::string_view word_;
  std::vector<std::string> words_;
};

void AddTables(const SchemaNames& names, const std::string& keyspace, Candidates* candidates) {
  const auto at = names.keyspaces.find(keyspace);
  if (at == names.keyspaces.end()) return;
  for (const auto& [table, columns] : at->second) candidates->AddName(table);
}

void AddKeyspaces(const SchemaNames& names, std::string_view behind, Candidates* candidates) {
  for (const auto& [keyspace, tables] : names.keyspaces) candidates->AddName(keyspace, behind);
}

void AddColumns(const SchemaNames& names, const std::vector<TableName>& tables,
                Candidates* candidates) {
  for (const TableName& table : tables) {
    const auto keyspace = names.keyspaces.find(table.keyspace);
    if (keyspace == names.keyspaces.end()) continue;
    const auto columns = keyspace->second.find(table.table);
    if (columns == keyspace->second.end()) continue;
    for (const std::string& column : columns->second) candidates->AddName(column);
  }
}

}  // namespace

Completion Complete(std::string_view before, std::string_view behind, const std::string& keyspace,
                    const std::function<const SchemaNames&()>& schema) {
  Completion completion;
  completion.begin = WordBegin(before);
  const Tokens tokens = TokensOf(before.substr(0, completion.begin));
  if (tokens.is_open) return completion;
  Candidates candidates(before.substr(completion.begin));
  const std::vector<Lexeme>& all = tokens.all;
  if (all.empty()) {
    candidates.AddBeginnings(kBeginnings);
  } else if (all.size() >= 2 && all.back().IsSymbol(".") && IsName(all[all.size() - 2])) {
    AddTables(schema(), cql::NameOf(all[all.size() - 2]), &candidates);
  } else if (all.back().keyword == Keyword::kUSE || all.back().keyword == Keyword::kKEYSPACE) {
    AddKeyspaces(schema(), "", &candidates);
  } else if (all.size() == 1 &&
             (all[0].keyword == Keyword::kDESCRIBE || all[0].keyword == Keyword::kDESC)) {
    candidates.AddBeginnings(kDescribed);
    AddTables(schema(), keyspace, &candidates);
    AddKeyspaces(schema(), "", &candidates);
  } else if (NamesTable(all.back().keyword)) {
    AddTables(schema(), keyspace, &candidates);
    AddKeyspaces(schema(), ".", &candidates);
  } else {
    std::vector<TableName> tables;
    AppendTables(all, keyspace, &tables);
    AppendTables(TokensOf(behind).all, keyspace, &tables);
    if (!tables.empty()) AddColumns(schema(), tables, &candidates);
    for (const std::string_view keyword : kKeywords) candidates.AddKeyword(keyword);
  }
  completion.words = candidates.Take();
  return completion;
}

std::string CommonBeginning(const std::vector<std::string>& words) {
  if (words.empty()) return "";
  std::string common = words.front();
  for (const std::string& word : words) {
    auto end = std::mismatch(common.begin(), common.end(), word.begin(), word.end()).first;
    // Whole characters alone.
    while (end != common.begin() && end != common.end() && IsWithinCharacter(*end)) --end;
    common.erase(end, common.end());
  }
  return common;
}

}  // namespace liststore
