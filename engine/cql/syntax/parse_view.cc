// CREATE, ALTER and DROP MATERIALIZED VIEW.
#include <utility>

#include "engine/cql/syntax/parser_impl.h"

namespace liststore::cql {

// Is this MATERIALIZED VIEW? Then both words are taken.
bool CqlParser::AcceptMaterializedView() {
  if (!At(Keyword::kMATERIALIZED) || Peek().keyword != Keyword::kVIEW) return false;
  Advance();
  Advance();
  return true;
}

bool CqlParser::ParseCreateView(CreateViewStatement& create) {
  if (!ParseIfNotExists(create.if_not_exists) || !ParseQualifiedName("view", create.view)) {
    return false;
  }
  if (!Expect(Keyword::kAS) || !Expect(Keyword::kSELECT)) return false;
  if (!Accept("*") && !ParseSelectors(create.selectors)) return false;
  if (!Expect(Keyword::kFROM) || !ParseQualifiedName("table", create.base)) return false;
  if (Accept(Keyword::kWHERE) && !ParseWhere(create.where)) return false;
  if (!At(Keyword::kPRIMARY)) return FailHere();
  if (!ParsePrimaryKey(create.partition_key, create.clustering_key)) return false;
  return !Accept(Keyword::kWITH) ||
         ParseTableProperties(create.properties, create.clustering_order, create.compact_storage);
}

bool CqlParser::ParseAlterView(AlterViewStatement& alter) {
  return ParseQualifiedName("view", alter.view) && Expect(Keyword::kWITH) &&
         ParseProperties(alter.properties);
}

bool CqlParser::ParseDropView(DropViewStatement& drop) {
  return ParseIfExists(drop.if_exists) && ParseQualifiedName("view", drop.view);
}

bool CqlParser::ParsePruneView(PruneViewStatement& prune) {
  Advance();
  if (!Expect(Keyword::kMATERIALIZED) || !Expect(Keyword::kVIEW)) return false;
  if (!ParseQualifiedName("view", prune.view)) return false;
  if (Accept(Keyword::kWHERE) && !ParseWhere(prune.where)) return false;
  UsingClause clause;
  if (!ParseUsing(UsingParts::kTimeout, clause)) return false;
  prune.timeout = std::move(clause.timeout);
  return true;
}

}  // namespace liststore::cql
