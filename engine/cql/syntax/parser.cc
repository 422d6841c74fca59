#include "engine/cql/syntax/parser.h"

#include <utility>

#include "engine/base/check.h"
#include "engine/cql/syntax/parser_impl.h"
#include "engine/cql/syntax/shown_text.h"

namespace liststore::cql {
namespace {

std::string Shown(const Lexeme& token) {
  return token.kind == TokenKind::kEnd ? "<EOF>" : ShownText(token.text);
}

std::string LineOf(SourcePosition position) {
  return "line " + std::to_string(position.line) + ":" + std::to_string(position.column);
}

}  // namespace

CqlOr<Statement> ParseStatement(std::string_view text, const ParseOptions& options) {
  CqlParser parser(text, options);
  Statement statement;
  if (!parser.ParseWholeStatement(statement)) return parser.TakeError();
  return statement;
}

CqlOr<TypeSpec> ParseType(std::string_view text) {
  CqlParser parser(text);
  TypeSpec type;
  if (!parser.ParseType(type) || !parser.ParseEnd()) return parser.TakeError();
  return type;
}

CqlOr<Expression> ParseTerm(std::string_view text) {
  CqlParser parser(text);
  Expression term;
  if (!parser.ParseTerm(term) || !parser.ParseEnd()) return parser.TakeError();
  return term;
}

bool CqlParser::ParseWholeStatement(Statement& statement) {
  if (!ParseAnyStatement(statement) || !ParseEnd()) return false;
  if (marker_names_.size() > kBindMarkersMax) {
    return Fail(CqlError::Invalid("Too many markers(?). " + std::to_string(marker_names_.size()) +
                                  " markers exceed the allowed maximum of " +
                                  std::to_string(kBindMarkersMax)));
  }
  statement.markers = std::move(marker_names_);
  return true;
}

bool CqlParser::ParseAnyStatement(Statement& statement) {
  ModificationStatement modification;
  switch (token().keyword) {
    case Keyword::kSELECT:
      return ParseSelect(statement.node.emplace<SelectStatement>());
    case Keyword::kINSERT:
    case Keyword::kUPDATE:
    case Keyword::kDELETE:
      if (!ParseModification(modification)) return false;
      std::visit([&statement](auto& parsed) { statement.node = std::move(parsed); }, modification);
      return true;
    case Keyword::kBEGIN:
      return ParseBatch(statement.node.emplace<BatchStatement>());
    case Keyword::kUSE:
      Advance();
      return ParseNameOf("keyspace", statement.node.emplace<UseStatement>().keyspace);
    case Keyword::kTRUNCATE: {
      Advance();
      auto& truncate = statement.node.emplace<TruncateStatement>();
      if (!Accept(Keyword::kTABLE)) Accept(Keyword::kCOLUMNFAMILY);
      UsingClause clause;
      if (!ParseQualifiedName("table", truncate.table)) return false;
      if (!ParseUsing(UsingParts::kTimeout, clause)) return false;
      truncate.timeout = std::move(clause.timeout);
      return true;
    }
    case Keyword::kCREATE:
      return ParseCreate(statement);
    case Keyword::kALTER:
      return ParseAlter(statement);
    case Keyword::kDROP:
      return ParseDrop(statement);
    case Keyword::kDESCRIBE:
    case Keyword::kDESC:
      return ParseDescribe(statement.node.emplace<DescribeStatement>());
    case Keyword::kLIST:
      if (AtServiceLevels()) {
        return ParseUnsupported({CqlFeature::kServiceLevels, "LIST SERVICE_LEVEL"}, statement);
      }
      return ParseList(statement.node.emplace<ListStatement>());
    case Keyword::kGRANT:
    case Keyword::kREVOKE:
      return ParseGrant(statement);
    case Keyword::kATTACH:
    case Keyword::kDETACH:
      return ParseUnsupported({CqlFeature::kServiceLevels,
                               std::string(KeywordText(token().keyword)) + " SERVICE_LEVEL"},
                              statement);
    case Keyword::kPRUNE:
      return ParsePruneView(statement.node.emplace<PruneViewStatement>());
    default:
      return FailHere();
  }
}

bool CqlParser::ParseEnd() {
  while (Accept(";")) {
  }
  if (token().kind == TokenKind::kEnd) return true;
  if (token().kind == TokenKind::kInvalid) return FailHere();
  return FailSyntax(LineOf(token().position) + " : Unexpected '" + Shown(token()) + "'");
}

CqlError CqlParser::TakeError() {
  LS_CHECK(error_.has_value(), "who asks for the error has seen a parse fail");
  return *std::move(error_);
}

void CqlParser::StopBehindTooMany() {
  FailSyntax(LineOf(token_.position) + " : The statement has more than " +
             std::to_string(options_.dialect.tokens_max) + " tokens");
  token_.kind = TokenKind::kInvalid;
  token_.keyword = Keyword::kNone;
}

Lexeme CqlParser::Peek() const {
  Lexer ahead = lexer_;
  return ahead.Next();
}

void CqlParser::GoBack(const Checkpoint& checkpoint) {
  LS_DCHECK(marker_names_.size() == checkpoint.markers, "a look ahead takes no markers");
  lexer_ = checkpoint.lexer;
  token_ = checkpoint.token;
  tokens_ = checkpoint.tokens;
  error_.reset();
}

bool CqlParser::Expect(Keyword keyword) {
  return Accept(keyword) || FailMissing(KeywordText(keyword));
}

bool CqlParser::Expect(std::string_view symbol) {
  return Accept(symbol) || FailMissing("'" + std::string(symbol) + "'");
}

bool CqlParser::Fail(CqlError error) {
  if (!error_.has_value()) error_ = std::move(error);
  return false;
}

bool CqlParser::FailHere() {
  return FailSyntax(LineOf(token().position) + " no viable alternative at input '" +
                    Shown(token()) + "'");
}

bool CqlParser::FailMissing(std::string_view what) {
  // A character that begins no token is what is wrong, wherever it stands.
  if (token().kind == TokenKind::kInvalid) return FailHere();
  return FailSyntax(LineOf(token().position) + " : Missing " + std::string(what));
}

bool CqlParser::FailTooDeep() { return FailSyntax("expression nested too deeply"); }

bool CqlParser::IsName(const Lexeme& token) {
  if (token.kind == TokenKind::kQuotedName) return true;
  return token.kind == TokenKind::kWord &&
         (token.keyword == Keyword::kNone || ClassOf(token.keyword) != KeywordClass::kReserved);
}

bool CqlParser::IsFunctionName(const Lexeme& token) {
  if (token.keyword == Keyword::kTOKEN || token.keyword == Keyword::kCOUNT) return true;
  return IsName(token) &&
         (token.keyword == Keyword::kNone || ClassOf(token.keyword) != KeywordClass::kNotAFunction);
}

bool CqlParser::ParseName(std::string& name) {
  if (!AtName()) return FailHere();
  name = NameOf(token());
  Advance();
  return true;
}

bool CqlParser::ParseNames(std::vector<std::string>& names) {
  do {
    if (!ParseName(names.emplace_back())) return false;
  } while (Accept(","));
  return true;
}

bool CqlParser::ParseNameOf(std::string_view what, std::string& name) {
  if (At("?")) {
    return FailSyntax("Bind variables cannot be used for " + std::string(what) + " names");
  }
  return ParseName(name);
}

bool CqlParser::ParseQualifiedName(std::string_view what, QualifiedName& name) {
  name.position = token().position;
  const bool is_keyspace = At("?") && Peek().IsSymbol(".");
  if (!ParseNameOf(is_keyspace ? "keyspace" : what, name.name)) return false;
  if (!Accept(".")) return true;
  name.keyspace = std::move(name.name);
  return ParseNameOf(what, name.name);
}

bool CqlParser::ParseIfExists(bool& if_exists) {
  if_exists = Accept(Keyword::kIF);
  return !if_exists || Expect(Keyword::kEXISTS);
}

bool CqlParser::ParseIfNotExists(bool& if_not_exists) {
  if_not_exists = Accept(Keyword::kIF);
  return !if_not_exists || (Expect(Keyword::kNOT) && Expect(Keyword::kEXISTS));
}

}  // namespace liststore::cql
