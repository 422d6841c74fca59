// CREATE, ALTER and DROP of keyspaces, tables and indexes; what the other files parse begins here.
#include <algorithm>
#include <utility>

#include "engine/cql/syntax/parser_impl.h"

namespace liststore::cql {
namespace {

// As it was written, also of null; nullptr: the term is no constant.
const std::string* TextOfConstant(const Expression& term) {
  static const std::string kNull = "null";
  if (term.Is<NullConstant>()) return &kNull;
  const auto* constant = std::get_if<Constant>(&term.node);
  return constant == nullptr ? nullptr : &constant->text;
}

std::string ShownTerm(const Expression& term) {
  return term.Is<BindMarker>() ? "?" : ToString(term);
}

std::string_view WhyNot(const Expression& term) {
  return term.Is<BindMarker>() ? " (bind variables are not supported in DDL queries)" : "";
}

}  // namespace

bool CqlParser::ParseCreate(Statement& statement) {
  Advance();
  switch (token().keyword) {
    case Keyword::kKEYSPACE:
    case Keyword::kSCHEMA:
      return ParseCreateKeyspace(statement.node.emplace<CreateKeyspaceStatement>());
    case Keyword::kTABLE:
    case Keyword::kCOLUMNFAMILY:
      return ParseCreateTable(statement.node.emplace<CreateTableStatement>());
    case Keyword::kCUSTOM:
    case Keyword::kINDEX:
      return ParseCreateIndex(statement.node.emplace<CreateIndexStatement>());
    case Keyword::kTYPE:
      return ParseCreateType(statement.node.emplace<CreateTypeStatement>());
    case Keyword::kROLE:
      return ParseCreateRole(statement.node.emplace<CreateRoleStatement>());
    case Keyword::kUSER:
      return ParseCreateUser(statement.node.emplace<CreateRoleStatement>());
    default:
      if (AcceptMaterializedView()) {
        return ParseCreateView(statement.node.emplace<CreateViewStatement>());
      }
      if (auto unsupported = UnsupportedObject("CREATE")) {
        return ParseUnsupported(*std::move(unsupported), statement);
      }
      return FailHere();
  }
}

bool CqlParser::ParseAlter(Statement& statement) {
  Advance();
  switch (token().keyword) {
    case Keyword::kKEYSPACE:
    case Keyword::kSCHEMA:
      return ParseAlterKeyspace(statement.node.emplace<AlterKeyspaceStatement>());
    case Keyword::kTABLE:
    case Keyword::kCOLUMNFAMILY:
      return ParseAlterTable(statement.node.emplace<AlterTableStatement>());
    case Keyword::kTYPE:
      return ParseAlterType(statement.node.emplace<AlterTypeStatement>());
    case Keyword::kROLE:
      return ParseAlterRole(statement.node.emplace<AlterRoleStatement>());
    case Keyword::kUSER:
      return ParseAlterUser(statement.node.emplace<AlterRoleStatement>());
    default:
      if (AcceptMaterializedView()) {
        return ParseAlterView(statement.node.emplace<AlterViewStatement>());
      }
      if (auto unsupported = UnsupportedObject("ALTER")) {
        return ParseUnsupported(*std::move(unsupported), statement);
      }
      return FailHere();
  }
}

bool CqlParser::ParseDrop(Statement& statement) {
  Advance();
  switch (token().keyword) {
    case Keyword::kKEYSPACE:
    case Keyword::kSCHEMA: {
      Advance();
      auto& drop = statement.node.emplace<DropKeyspaceStatement>();
      return ParseIfExists(drop.if_exists) && ParseNameOf("keyspace", drop.keyspace);
    }
    case Keyword::kTABLE:
    case Keyword::kCOLUMNFAMILY: {
      Advance();
      auto& drop = statement.node.emplace<DropTableStatement>();
      return ParseIfExists(drop.if_exists) && ParseQualifiedName("table", drop.table);
    }
    case Keyword::kINDEX: {
      Advance();
      auto& drop = statement.node.emplace<DropIndexStatement>();
      return ParseIfExists(drop.if_exists) && ParseQualifiedName("index", drop.index);
    }
    case Keyword::kTYPE: {
      Advance();
      auto& drop = statement.node.emplace<DropTypeStatement>();
      return ParseIfExists(drop.if_exists) && ParseTypeName(drop.type);
    }
    case Keyword::kROLE:
      return ParseDropRole(statement.node.emplace<DropRoleStatement>());
    case Keyword::kUSER:
      return ParseDropUser(statement.node.emplace<DropRoleStatement>());
    default:
      if (AcceptMaterializedView()) {
        return ParseDropView(statement.node.emplace<DropViewStatement>());
      }
      if (auto unsupported = UnsupportedObject("DROP")) {
        return ParseUnsupported(*std::move(unsupported), statement);
      }
      return FailHere();
  }
}

bool CqlParser::ParseCreateKeyspace(CreateKeyspaceStatement& create) {
  Advance();
  return ParseIfNotExists(create.if_not_exists) && ParseNameOf("keyspace", create.keyspace) &&
         Expect(Keyword::kWITH) && ParseProperties(create.properties);
}

bool CqlParser::ParseAlterKeyspace(AlterKeyspaceStatement& alter) {
  Advance();
  return ParseNameOf("keyspace", alter.keyspace) && Expect(Keyword::kWITH) &&
         ParseProperties(alter.properties);
}

bool CqlParser::ParseProperties(std::vector<Property>& properties) {
  do {
    if (!ParseProperty(properties)) return false;
  } while (Accept(Keyword::kAND));
  return true;
}

bool CqlParser::ParseProperty(std::vector<Property>& properties) {
  Property property;
  property.position = token().position;
  if (!ParseName(property.name) || !Expect("=")) return false;
  if (At("{")) {
    if (!ParsePropertyMap(property.value.emplace<Property::Map>())) return false;
  } else if (token().kind == TokenKind::kWord && !At(Keyword::kNAN) && !At(Keyword::kINFINITY)) {
    // A word that CQL knows stands for itself; any other would have to be a string.
    const bool stands_for_itself =
        At(Keyword::kNULL) || (token().keyword != Keyword::kNone && AtName());
    if (!stands_for_itself) return FailHere();
    property.value = At(Keyword::kNULL) ? "null" : std::string(token().text);
    Advance();
  } else {
    Constant constant;
    if (!ParseConstant(constant)) return false;
    property.value = std::move(constant.text);
  }
  const bool repeated =
      std::any_of(properties.begin(), properties.end(),
                  [&property](const Property& earlier) { return earlier.name == property.name; });
  // Source: ScyllaDB cql3/statements/property_definitions.cc.
  if (repeated) return FailSyntax("Multiple definition for property '" + property.name + "'");
  properties.push_back(std::move(property));
  return true;
}

// Source: ScyllaDB cql3/Cql.g, convert_property_map.
bool CqlParser::ParsePropertyMap(Property::Map& map) {
  Advance();
  if (Accept("}")) return true;
  do {
    Expression name;
    Expression value;
    if (!ParseTerm(name) || !Expect(":") || !ParseTerm(value)) return false;
    const std::string* const key = TextOfConstant(name);
    if (key == nullptr) {
      return FailSyntax("Invalid property name: " + ShownTerm(name) + std::string(WhyNot(name)));
    }
    const std::string* const text = TextOfConstant(value);
    if (text == nullptr) {
      // Where the words say value ScyllaDB shows the name.
      return FailSyntax("Invalid property value: " + ShownTerm(name) +
                        " for property: " + ShownTerm(value) + std::string(WhyNot(value)));
    }
    const bool repeated =
        std::any_of(map.begin(), map.end(), [&](const auto& entry) { return entry.first == *key; });
    if (repeated) return FailSyntax("Multiple definition for property " + *key);
    map.emplace_back(*key, *text);
  } while (Accept(","));
  return Expect("}");
}

bool CqlParser::ParseTableProperties(std::vector<Property>& properties,
                                     std::vector<ColumnOrder>& order, bool& compact_storage) {
  do {
    const Keyword next = Peek().keyword;
    if (At(Keyword::kCOMPACT) && next == Keyword::kSTORAGE) {
      Advance();
      Advance();
      compact_storage = true;
    } else if (At(Keyword::kCLUSTERING) && next == Keyword::kORDER) {
      if (!ParseClusteringOrder(order)) return false;
    } else if (!ParseProperty(properties)) {
      return false;
    }
  } while (Accept(Keyword::kAND));
  return true;
}

// CLUSTERING ORDER BY (c ASC, d DESC).
bool CqlParser::ParseClusteringOrder(std::vector<ColumnOrder>& order) {
  Advance();
  Advance();
  if (!Expect(Keyword::kBY) || !Expect("(")) return false;
  do {
    ColumnOrder& column = order.emplace_back();
    column.position = token().position;
    if (!ParseName(column.column)) return false;
    column.descending = At(Keyword::kDESC);
    if (!Accept(Keyword::kDESC) && !Accept(Keyword::kASC)) return FailHere();
  } while (Accept(","));
  return Expect(")");
}

bool CqlParser::ParseCreateTable(CreateTableStatement& create) {
  Advance();
  if (!ParseIfNotExists(create.if_not_exists)) return false;
  if (!ParseQualifiedName("table", create.table) || !Expect("(")) return false;
  if (!ParseTableElement(create)) return false;
  while (Accept(",")) {
    // ScyllaDB's grammar lets commas stand without an element behind them.
    if (At(",") || At(")")) continue;
    if (!ParseTableElement(create)) return false;
  }
  if (!Expect(")")) return false;
  return !Accept(Keyword::kWITH) ||
         ParseTableProperties(create.properties, create.clustering_order, create.compact_storage);
}

bool CqlParser::ParseTableElement(CreateTableStatement& create) {
  if (At(Keyword::kPRIMARY)) {
    return ParsePrimaryKey(create.partition_keys.emplace_back(), create.clustering_key);
  }
  ColumnSpec& column = create.columns.emplace_back();
  if (!ParseColumnDefinition(column)) return false;
  if (Accept(Keyword::kPRIMARY)) {
    if (!Expect(Keyword::kKEY)) return false;
    create.partition_keys.push_back({column.name});
  }
  return true;
}

bool CqlParser::ParseColumnDefinition(ColumnSpec& column) {
  column.position = token().position;
  if (!ParseName(column.name) || !ParseType(column.type)) return false;
  column.is_static = Accept(Keyword::kSTATIC);
  return true;
}

// PRIMARY KEY (k, c, ...) or ((k, ...), c, ...).
bool CqlParser::ParsePrimaryKey(std::vector<std::string>& partition_key,
                                std::vector<std::string>& clustering_key) {
  Advance();
  if (!Expect(Keyword::kKEY) || !Expect("(")) return false;
  if (Accept("(")) {
    if (!ParseNames(partition_key) || !Expect(")")) return false;
  } else if (!ParseName(partition_key.emplace_back())) {
    return false;
  }
  if (Accept(",") && !ParseNames(clustering_key)) return false;
  return Expect(")");
}

bool CqlParser::ParseAlterTable(AlterTableStatement& alter) {
  Advance();
  if (!ParseQualifiedName("table", alter.table)) return false;
  switch (token().keyword) {
    case Keyword::kADD:
      return ParseAddedColumns(alter);
    case Keyword::kDROP:
      return ParseDroppedColumns(alter);
    case Keyword::kRENAME:
      alter.kind = AlterTableStatement::Kind::kRename;
      return ParseRenames(alter.renames);
    case Keyword::kALTER: {
      alter.kind = AlterTableStatement::Kind::kAlterType;
      Advance();
      ColumnSpec& column = alter.columns.emplace_back();
      column.position = token().position;
      return ParseName(column.name) && Expect(Keyword::kTYPE) && ParseType(column.type);
    }
    case Keyword::kWITH:
      alter.kind = AlterTableStatement::Kind::kProperties;
      Advance();
      return ParseProperties(alter.properties);
    case Keyword::kTTL: {
      alter.kind = AlterTableStatement::Kind::kTtlPerRow;
      Advance();
      std::string column;
      return Accept(Keyword::kNULL) || ParseName(column);
    }
    default:
      return FailHere();
  }
}

bool CqlParser::ParseAddedColumns(AlterTableStatement& alter) {
  alter.kind = AlterTableStatement::Kind::kAdd;
  Advance();
  if (!Accept("(")) return ParseColumnDefinition(alter.columns.emplace_back());
  do {
    if (!ParseColumnDefinition(alter.columns.emplace_back())) return false;
  } while (Accept(","));
  return Expect(")");
}

bool CqlParser::ParseDroppedColumns(AlterTableStatement& alter) {
  alter.kind = AlterTableStatement::Kind::kDrop;
  Advance();
  if (options_.dialect.has_drop_compact_storage && At(Keyword::kCOMPACT) &&
      Peek().keyword == Keyword::kSTORAGE) {
    alter.kind = AlterTableStatement::Kind::kDropCompactStorage;
    Advance();
    Advance();
    return true;
  }
  const bool several = Accept("(");
  do {
    ColumnSpec& column = alter.columns.emplace_back();
    column.position = token().position;
    if (!ParseName(column.name)) return false;
  } while (several && Accept(","));
  if (several && !Expect(")")) return false;
  UsingClause clause;
  if (!ParseUsing(UsingParts::kTimestamp, clause)) return false;
  alter.drop_timestamp = std::move(clause.timestamp);
  return true;
}

bool CqlParser::ParseRenames(std::vector<std::pair<std::string, std::string>>& renames) {
  Advance();
  do {
    auto& [from, to] = renames.emplace_back();
    if (!ParseName(from) || !Expect(Keyword::kTO) || !ParseName(to)) return false;
  } while (Accept(Keyword::kAND));
  return true;
}

bool CqlParser::ParseCreateIndex(CreateIndexStatement& create) {
  create.custom = Accept(Keyword::kCUSTOM);
  if (!Expect(Keyword::kINDEX) || !ParseIfNotExists(create.if_not_exists)) return false;
  if (!At(Keyword::kON) && !ParseNameOf("index", create.name)) return false;
  if (!Expect(Keyword::kON) || !ParseQualifiedName("table", create.table)) return false;
  if (!Expect("(")) return false;
  if (!At(")")) {
    do {
      if (!ParseIndexTarget(create.targets.emplace_back())) return false;
    } while (Accept(","));
  }
  if (!Expect(")")) return false;
  if (Accept(Keyword::kUSING)) {
    if (token().kind != TokenKind::kString) return FailHere();
    create.custom_class = StringOf(token());
    Advance();
  }
  return !Accept(Keyword::kWITH) || ParseProperties(create.properties);
}

bool CqlParser::ParseIndexTarget(IndexTarget& target) {
  if (Accept("(")) {
    target.kind = IndexTarget::Kind::kColumns;
    return ParseNames(target.columns) && Expect(")");
  }
  // VALUES and KEYS are names too; ENTRIES and FULL are not.
  const bool in_parentheses = Peek().IsSymbol("(");
  if (At(Keyword::kVALUES) && in_parentheses) {
    target.kind = IndexTarget::Kind::kValues;
  } else if (At(Keyword::kKEYS) && in_parentheses) {
    target.kind = IndexTarget::Kind::kKeys;
  } else if (At(Keyword::kENTRIES)) {
    target.kind = IndexTarget::Kind::kEntries;
  } else if (At(Keyword::kFULL)) {
    target.kind = IndexTarget::Kind::kFull;
  } else {
    target.kind = IndexTarget::Kind::kColumn;
    return ParseName(target.columns.emplace_back());
  }
  Advance();
  return Expect("(") && ParseName(target.columns.emplace_back()) && Expect(")");
}

}  // namespace liststore::cql
