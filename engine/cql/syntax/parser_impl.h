// CqlParser: what the files parse_*.cc share. For the parser alone; others include parser.h.
#ifndef LISTSTORE_ENGINE_CQL_SYNTAX_PARSER_IMPL_H_
#define LISTSTORE_ENGINE_CQL_SYNTAX_PARSER_IMPL_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/cql/syntax/cql_error.h"
#include "engine/cql/syntax/expression.h"
#include "engine/cql/syntax/keywords.h"
#include "engine/cql/syntax/lexer.h"
#include "engine/cql/syntax/parser.h"
#include "engine/cql/syntax/statement.h"

namespace liststore::cql {

// Parses one text, once. A method that parses returns false when it cannot go on: the error is kept
// (the first one counts) and what it has put into its output means nothing. `token()` is the token
// that comes next; nothing behind it has been taken, so that a look ahead is a copy of the lexer.
class CqlParser {
 public:
  explicit CqlParser(std::string_view text, const ParseOptions& options = {})
      : lexer_(text), options_(options) {
    Advance();
  }

  bool ParseWholeStatement(Statement& statement);
  // Nothing but semicolons may follow.
  bool ParseEnd();
  bool ParseType(TypeSpec& type);
  bool ParseTerm(Expression& term);

  CqlError TakeError();

 private:
  // Where a look ahead that fails goes back to.
  struct Checkpoint {
    Lexer lexer;
    Lexeme token;
    size_t markers;
    size_t tokens;
  };

  // Keeps count of what is inside of what, while it lives.
  class NestingGuard {
   public:
    explicit NestingGuard(int& nesting) : nesting_(nesting) { ++nesting_; }
    ~NestingGuard() { --nesting_; }
    NestingGuard(const NestingGuard&) = delete;
    NestingGuard& operator=(const NestingGuard&) = delete;

   private:
    int& nesting_;
  };

  // ---- Tokens and errors: parser.cc.
  const Lexeme& token() const { return token_; }
  void Advance() {
    if (++tokens_ > options_.dialect.tokens_max) [[unlikely]]
      return StopBehindTooMany();
    token_ = lexer_.Next();
  }
  // Nothing goes on from here.
  void StopBehindTooMany();
  Lexeme Peek() const;
  Checkpoint Mark() const { return {lexer_, token_, marker_names_.size(), tokens_}; }
  // Nothing that was parsed since may have had markers.
  void GoBack(const Checkpoint& checkpoint);

  bool At(Keyword keyword) const { return token_.keyword == keyword; }
  bool At(std::string_view symbol) const { return token_.IsSymbol(symbol); }
  // Takes it if it comes next.
  template <typename What>
  bool Accept(What what) {
    if (!At(what)) return false;
    Advance();
    return true;
  }
  // An error when it does not come next.
  bool Expect(Keyword keyword);
  bool Expect(std::string_view symbol);

  bool Fail(CqlError error);
  bool FailSyntax(std::string message) { return Fail(CqlError::Syntax(std::move(message))); }
  // "line L:C no viable alternative at input 'token'".
  bool FailHere();
  bool FailMissing(std::string_view what);
  bool FailTooDeep();

  // A word that is no reserved one, or a quoted name.
  static bool IsName(const Lexeme& token);
  // As function names may be: `token` and `count` too, but not `ttl`.
  static bool IsFunctionName(const Lexeme& token);
  bool AtName() const { return IsName(token_); }
  bool ParseName(std::string& name);
  bool ParseNames(std::vector<std::string>& names);  // a, b, ...
  // `what` ("keyspace") is what a bind marker in its place cannot stand for.
  bool ParseNameOf(std::string_view what, std::string& name);
  bool ParseQualifiedName(std::string_view what, QualifiedName& name);
  bool ParseIfExists(bool& if_exists);
  bool ParseIfNotExists(bool& if_not_exists);

  // ---- Types: parse_types.cc.
  bool ParseTypeParameters(size_t count, TypeSpec& type);
  bool CheckFrozen(const TypeSpec& type);
  bool ParseVectorType(TypeSpec& type);
  bool ParseUserType(TypeSpec& type);
  bool ParseNativeType(CqlType& type);

  // ---- Terms: parse_terms.cc.
  bool ParsePrimary(Expression& term);
  bool ParseWordTerm(Expression& term);
  bool ParseListLiteral(Expression& term);
  bool ParseBraces(Expression& term);
  bool ParseUserTypeLiteral(Expression& term);
  bool ParseParentheses(Expression& term);
  bool ParseTerms(std::string_view end, std::vector<Expression>& terms);  // t, ... end
  bool ParseFunctionName(FunctionName& name);
  bool ParseConstant(Constant& constant);
  bool AtMarker() const;
  bool ParseMarker(Expression& term);
  bool ParseIntegerOrMarker(std::optional<Expression>& value);

  // ---- WHERE and IF: parse_relations.cc.
  bool ParseWhere(std::vector<Relation>& where);
  bool ParseRelation(Relation& relation);
  bool ParseTokenRelation(Relation& relation);
  bool ParseTupleRelation(Relation& relation);
  bool ParseFunctionRelation(Relation& relation);
  bool ParseColumnRelation(Relation& relation);
  bool ParseComparison(RelationOperator& op);
  bool ParseInValues(Relation& relation);
  bool ParseTupleInValues(Relation& relation);
  // IF EXISTS | IF conditions, or nothing.
  bool ParseConditions(bool& if_exists, std::vector<Relation>& conditions);
  bool ParseCondition(Relation& condition);
  bool AtParenthesisedNames() const;

  // ---- Statements: parse_select.cc, parse_modification.cc, parse_schema.cc, parse_other.cc.
  bool ParseAnyStatement(Statement& statement);
  bool ParseCreate(Statement& statement);
  bool ParseAlter(Statement& statement);
  bool ParseDrop(Statement& statement);

  bool ParseSelect(SelectStatement& select);
  bool ParseSelectEnd(SelectStatement& select);
  bool ParseSelectors(std::vector<Selector>& selectors);
  bool ParseSelector(Expression& selector);
  bool ParseSelectorPrimary(Expression& selector);
  bool ParseSelectorCall(Expression& selector);
  bool ParseSelectorCast(Expression& selector);
  bool ParseCellAttribute(CellAttribute::Kind kind, Expression& selector);
  bool ParsePostfix(Expression& selector);
  bool ParseSelectorArguments(std::vector<Expression>& arguments);
  bool ParseOrderBy(std::vector<ColumnOrder>& order_by);

  bool ParseModification(ModificationStatement& statement);
  bool ParseInsert(ModificationStatement& statement);
  bool ParseInsertJson(QualifiedName table, InsertJsonStatement& insert);
  bool ParseUpdate(UpdateStatement& update);
  bool ParseAssignment(Assignment& assignment);
  bool ParseAssignedValue(Assignment& assignment);
  bool ParseIncrement(Assignment& assignment);
  bool ParseDelete(DeleteStatement& deletion);
  bool ParseDeletion(Deletion& deletion);
  bool ParseBatch(BatchStatement& batch);
  enum class UsingParts : uint8_t {
    kAll,
    kNoTtl,
    kTimeout,
    kTimestamp
  };
  bool ParseUsing(UsingParts parts, UsingClause& clause);

  bool ParseProperties(std::vector<Property>& properties);
  bool ParseProperty(std::vector<Property>& properties);
  bool ParsePropertyMap(Property::Map& map);
  bool ParseTableProperties(std::vector<Property>& properties, std::vector<ColumnOrder>& order,
                            bool& compact_storage);
  bool ParseClusteringOrder(std::vector<ColumnOrder>& order);
  bool ParseCreateKeyspace(CreateKeyspaceStatement& create);
  bool ParseAlterKeyspace(AlterKeyspaceStatement& alter);
  bool ParseCreateTable(CreateTableStatement& create);
  bool ParseTableElement(CreateTableStatement& create);
  bool ParsePrimaryKey(std::vector<std::string>& partition_key,
                       std::vector<std::string>& clustering_key);
  bool ParseColumnDefinition(ColumnSpec& column);
  bool ParseAlterTable(AlterTableStatement& alter);
  bool ParseAddedColumns(AlterTableStatement& alter);
  bool ParseDroppedColumns(AlterTableStatement& alter);
  bool ParseRenames(std::vector<std::pair<std::string, std::string>>& renames);
  bool ParseCreateIndex(CreateIndexStatement& create);
  bool ParseIndexTarget(IndexTarget& target);
  // ---- parse_view.cc. Behind MATERIALIZED VIEW.
  bool AcceptMaterializedView();
  bool ParseCreateView(CreateViewStatement& create);
  bool ParseAlterView(AlterViewStatement& alter);
  bool ParseDropView(DropViewStatement& drop);
  bool ParsePruneView(PruneViewStatement& prune);
  // ---- parse_types.cc.
  bool ParseTypeName(QualifiedName& name);
  bool ParseField(ColumnSpec& field);
  bool ParseCreateType(CreateTypeStatement& create);
  bool ParseAlterType(AlterTypeStatement& alter);

  bool ParseDescribe(DescribeStatement& describe);
  bool ParseDescribed(DescribeStatement& describe);
  bool ParseDescribedName(DescribeStatement::Kind kind, DescribeStatement& describe);
  // Takes the rest of a statement that is known and not supported.
  bool ParseUnsupported(UnsupportedStatement unsupported, Statement& statement);
  std::optional<UnsupportedStatement> UnsupportedObject(std::string_view verb);

  // ---- parse_role.cc. Behind CREATE, ALTER and DROP.
  bool ParseCreateRole(CreateRoleStatement& create);
  bool ParseCreateUser(CreateRoleStatement& create);
  bool ParseAlterRole(AlterRoleStatement& alter);
  bool ParseAlterUser(AlterRoleStatement& alter);
  bool ParseDropRole(DropRoleStatement& drop);
  bool ParseDropUser(DropRoleStatement& drop);
  // [WITH option AND ...].
  bool ParseRoleOptions(RoleOptions& options);
  bool ParseRoleOption(RoleOptions& options);
  bool ParseUserOptions(RoleOptions& options);
  bool ParseBoolean(std::optional<bool>& value);
  bool ParseStringLiteral(std::optional<std::string>& text);
  bool ParseRoleName(std::string& name);
  bool ParseUserName(std::string& name);

  // ---- parse_permissions.cc. GRANT, REVOKE and LIST.
  bool ParseGrant(Statement& statement);
  bool AtPermissions() const;
  bool AtServiceLevels() const;
  bool ParseList(ListStatement& list);
  bool ParsePermissions(roles::PermissionSet& permissions);
  bool ParseResource(roles::Resource& resource);
  bool ParseFunctionResource(roles::Resource& resource);

  Lexer lexer_;
  const ParseOptions options_;
  Lexeme token_;
  size_t tokens_ = 0;  // with token_
  std::optional<CqlError> error_;
  int nesting_ = 0;
  int type_nesting_ = 0;
  std::vector<std::string> marker_names_;
  std::map<std::string, uint32_t, std::less<>> named_markers_;
};

}  // namespace liststore::cql

#endif  // LISTSTORE_ENGINE_CQL_SYNTAX_PARSER_IMPL_H_
