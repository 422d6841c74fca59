#include "tests/conformance/known_differences.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <iterator>
#include <utility>

namespace liststore::testing {
namespace {

bool Has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// ---- What a statement says

struct Relation {
  std::vector<std::string> columns;  // of a tuple several; of a token none
  std::string_view rest;             // " = 1"
};

// Of the WHERE clause. No value of the pools has a word of CQL in it.
std::vector<Relation> RelationsOf(std::string_view statement) {
  constexpr std::string_view kWhere = " WHERE ";
  const size_t begin = statement.find(kWhere);
  if (begin == std::string_view::npos) return {};
  std::string_view where = statement.substr(begin + kWhere.size());
  for (const std::string_view next : {" GROUP BY ", " ORDER BY ", " PER PARTITION LIMIT ",
                                      " LIMIT ", " ALLOW FILTERING", " IF "}) {
    where = where.substr(0, where.find(next));
  }
  std::vector<Relation> relations;
  while (!where.empty()) {
    const size_t end = where.find(" AND ");
    std::string_view text = where.substr(0, end);
    where = end == std::string_view::npos ? "" : where.substr(end + 5);
    Relation relation;
    if (text.starts_with("(")) {
      const size_t close = text.find(')');
      std::string_view names = text.substr(1, close - 1);
      relation.rest = text.substr(close + 1);
      while (!names.empty()) {
        const size_t comma = names.find(", ");
        relation.columns.emplace_back(names.substr(0, comma));
        names = comma == std::string_view::npos ? "" : names.substr(comma + 2);
      }
    } else if (!text.starts_with("token(")) {
      const size_t space = text.find(' ');
      relation.columns.emplace_back(text.substr(0, space));
      relation.rest = text.substr(space);
    }
    relations.push_back(std::move(relation));
  }
  return relations;
}

class Statement {
 public:
  Statement(std::string_view text, const ModelSchema& schema)
      : text_(text), schema_(schema), relations_(RelationsOf(text)) {}

  bool filters() const { return text_.ends_with(" ALLOW FILTERING"); }
  bool Says(std::string_view part) const { return Has(text_, part); }
  // c[k], in the WHERE clause.
  bool NamesElementOf(const std::string& column) const {
    return Says(" WHERE " + column + "[") || Says(" AND " + column + "[");
  }
  // Among the selected columns, in the conditions of a write.
  bool Selects(std::string_view part) const {
    return text_.starts_with("SELECT ") && Has(text_.substr(0, text_.find(" FROM ")), part);
  }
  bool SaysIf(std::string_view part) const {
    const size_t at = text_.rfind(" IF ");
    return at != std::string_view::npos && Has(text_.substr(at), part);
  }
  const std::vector<Relation>& relations() const { return relations_; }
  // Some of these columns.
  bool NamesAny(const std::vector<ModelColumn>& columns) const {
    return std::ranges::any_of(relations_, [&](const Relation& relation) {
      return !relation.columns.empty() && IsOneOf(relation.columns[0], columns);
    });
  }
  bool HasInOfPartitions() const {
    return std::ranges::any_of(relations_, [&](const Relation& relation) {
      return !relation.columns.empty() && IsOneOf(relation.columns[0], schema_.partition_key) &&
             relation.rest.starts_with(" IN ");
    });
  }
  size_t CountOf(std::string_view column) const {
    return static_cast<size_t>(std::ranges::count_if(relations_, [&](const Relation& relation) {
      return std::ranges::find(relation.columns, column) != relation.columns.end();
    }));
  }
  // What is said of a column alone; empty: nothing.
  std::string_view RelationOf(std::string_view column) const {
    for (const Relation& relation : relations_) {
      if (relation.columns.size() == 1 && relation.columns[0] == column) return relation.rest;
    }
    return {};
  }

 private:
  static bool IsOneOf(const std::string& name, const std::vector<ModelColumn>& columns) {
    return std::ranges::find(columns, name, &ModelColumn::name) != columns.end();
  }

  std::string_view text_;
  const ModelSchema& schema_;
  std::vector<Relation> relations_;
};

// A column that the error names and the statement restricts `times` times.
bool NamesColumn(std::string_view error, const Statement& statement, size_t times) {
  for (const Relation& relation : statement.relations()) {
    for (const std::string& column : relation.columns) {
      if (Has(error, column) && statement.CountOf(column) >= times) return true;
    }
  }
  return false;
}

constexpr std::string_view kEmpty = "/* empty */";

// Of one column's relation.
bool IsEmptyKey(std::string_view relation) {
  const bool is_one = relation.starts_with(" = ") || relation.starts_with(" CONTAINS ");
  return (is_one &&
          (Has(relation, kEmpty) || relation.ends_with(" ''") || relation.ends_with(" 0x"))) ||
         (relation.starts_with(" IN (") &&
          (Has(relation, kEmpty) || Has(relation, "(0x)") || Has(relation, "(0x,") ||
           Has(relation, " 0x)") || Has(relation, " 0x,") || Has(relation, "('')") ||
           Has(relation, "('',") || Has(relation, " '')") || Has(relation, " '',")));
}

// Of one column: with a value, or a list of just one.
bool IsEquality(std::string_view relation) {
  constexpr std::string_view kIn = " IN (";
  if (!relation.starts_with(kIn)) return relation.starts_with(" = ");
  int depth = 0;
  for (const char c : relation.substr(kIn.size())) {
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if (c == ',' && depth == 0) return false;
  }
  return relation != " IN ()";
}

bool IsOfSeveralRelations(std::string_view error) {
  return Has(error, "cannot be restricted by more than one relation if it includes a") ||
         Has(error, "More than one restriction was found for the ") ||
         Has(error, "cannot be restricted by both an equality and an inequality relation");
}

// ---- Values in other forms

// Whether they are the same but for the first day of 1970 in place of the last one of 1969.
bool AreSameButDates(const std::vector<ResultRow>& found, const std::vector<ResultRow>& other) {
  constexpr std::string_view kTheirs("\x80\0\0\0", 4);
  constexpr std::string_view kOurs = "\x7f\xff\xff\xff";
  const auto is_same = [&](const std::optional<std::string>& a,
                           const std::optional<std::string>& b) {
    return a == b || (a == kTheirs && b == kOurs);
  };
  return std::ranges::equal(found, other, [&](const ResultRow& a, const ResultRow& b) {
    return std::ranges::equal(a, b, is_same);
  });
}

// ---- Rules

struct NamedRule {
  const char* name;
  bool AnswerRules::*rule;
};
constexpr NamedRule kRules[] = {
    {"order of partitions in IN", &AnswerRules::in_descends},
    {"order of rows with IN", &AnswerRules::in_order_is_stable},
    {"forms of JSON", &AnswerRules::json_of_java},
    {"empty partition keys", &AnswerRules::empty_keys_first},
    {"empty values in a list that is bound", &AnswerRules::bound_empties_are_null},
    {"empty values in a list that is bound", &AnswerRules::bound_empties_spoil},
    {"empty values in a list that is bound", &AnswerRules::bound_empties_end},
};

// The sentence by which Cassandra says that a replica has failed, which is itself.
bool IsFailure(std::string_view error) {
  return error.starts_with("Operation failed - received 0 responses and 1 failures");
}

std::string NameOfOne(const Refusal& refusal) {
  const Statement statement(refusal.statement, refusal.schema);
  const std::string_view error = refusal.error;
  if (Has(error, "might involve data filtering") && !statement.filters() &&
      !statement.NamesAny(refusal.schema.partition_key) &&
      statement.NamesAny(refusal.schema.clustering)) {
    return "clustering columns of all partitions";
  }
  if (IsOfSeveralRelations(error) && NamesColumn(error, statement, 2)) {
    return "several relations on a column";
  }
  if (Has(error, "Invalid null value in condition for column ")) {
    const std::string_view column = error.substr(error.rfind(' ') + 1);
    const std::string_view relation = statement.RelationOf(column);
    if (relation.starts_with(" IN (") && Has(relation, kEmpty)) {
      return "empty values in a list that is bound";
    }
  }
  if (Has(error, "Cannot page queries with both ORDER BY and a IN restriction") && refusal.paged &&
      statement.Says(" ORDER BY ") && statement.HasInOfPartitions()) {
    return "pages of ORDER BY with IN";
  }
  // Its grammar takes markers for all of them or for none.
  if (Has(error, "no viable alternative at input") && Has(error, " IN (") &&
      (Has(error, "[(]") || Has(error, "[?]"))) {
    return "markers beside tuples in IN";
  }
  constexpr std::string_view kListElement =
      "Element selection is only allowed on sets and maps, but ";
  if (error.starts_with(kListElement) && error.ends_with(" is a list")) {
    const std::string_view rest = error.substr(kListElement.size());
    const std::string element = std::string(rest.substr(0, rest.find(' '))) + "[";
    if (statement.Selects(element)) return "elements of lists";
  }
  // Of a batch that has another statement on the row.
  if (error.starts_with("Cannot mix IF ") && error.ends_with(" for the same row") &&
      statement.Says(" IF ")) {
    return "conditions of one row in a batch";
  }
  constexpr std::string_view kEmptyOf = "Invalid comparison with an empty ";
  if (error.starts_with(kEmptyOf)) {
    const std::string_view op = error.substr(error.find('"') + 1);
    const std::string compares = " " + std::string(op.substr(0, op.find('"'))) + " ";
    const bool is_list = Has(error, " list ");
    if (statement.SaysIf(compares + (is_list ? "[]" : "{}"))) return "order of empty collections";
  }
  // {} is taken for a set before it is one of a map. Java leaves out the words of what fails often.
  constexpr std::string_view kClassCast = "java.lang.ClassCastException";
  if ((error == kClassCast ||
       error.starts_with(std::string(kClassCast) +
                         ": class org.apache.cassandra.db.marshal.MapType cannot be cast")) &&
      statement.Says("{}")) {
    return "statements that fail in the server";
  }
  if (error.starts_with("Unknown function") &&
      (statement.Selects("dateOf(") || statement.Selects("unixTimestampOf("))) {
    return "dateOf and unixTimestampOf";
  }
  // ttl(m[?]), and writetime() likewise.
  if (error.starts_with(kClassCast) && statement.Selects("])")) {
    return "statements that fail in the server";
  }
  // IF v.f of a value that is older than the field.
  const auto has_condition_on_field = [&](const ModelColumn& column) {
    return column.type.kind() == DataType::Kind::kUser && column.type.is_frozen() &&
           statement.SaysIf(" " + column.name + ".");
  };
  if (error.starts_with("java.lang.ArrayIndexOutOfBoundsException") &&
      (std::ranges::any_of(refusal.schema.regular, has_condition_on_field) ||
       std::ranges::any_of(refusal.schema.statics, has_condition_on_field))) {
    return "statements that fail in the server";
  }
  // Of the page that ends with a row of a view whose key is empty.
  if (error.starts_with("java.lang.NullPointerException") && refusal.paged &&
      refusal.schema.is_view && refusal.schema.partition_key.size() == 1) {
    return "statements that fail in the server";
  }
  // IllegalStateException where the last row that is wanted lies in a range that was deleted.
  const bool ends_early =
      refusal.paged || statement.Says(" LIMIT ") || statement.Selects(" DISTINCT ");
  if (IsFailure(error) && (statement.Says(" GROUP BY ") || ends_early)) {
    return "statements that fail in the server";
  }
  if (error == "Key may not be empty" && statement.Says("SELECT ") &&
      IsEmptyKey(statement.RelationOf(refusal.schema.partition_key[0].name)) &&
      refusal.schema.partition_key.size() == 1) {
    return "empty partition keys";
  }
  if (!refusal.schema.index) return "";
  const std::string_view indexed = statement.RelationOf(refusal.schema.IndexedColumn().name);
  if (error == "Key may not be empty" && IsEmptyKey(indexed)) return "empty values by an index";
  const bool uses_index = IsEquality(indexed) || indexed.starts_with(" CONTAINS ") ||
                          statement.NamesElementOf(refusal.schema.IndexedColumn().name);
  if (Has(error, "indexed columns and with IN clause for the PRIMARY KEY") && uses_index &&
      statement.HasInOfPartitions()) {
    return "an index beside IN";
  }
  return "";
}

}  // namespace

// Of several in a batch one is enough.
std::string NameOfRefusal(const Refusal& refusal) {
  std::string_view left = refusal.statement;
  while (!left.empty()) {
    const size_t end = left.find('\n');
    std::string_view one = left.substr(0, end);
    left = end == std::string_view::npos ? "" : left.substr(end + 1);
    if (one.starts_with("  ")) one = one.substr(2, one.size() - 3);  // indented, and a semicolon
    const std::string name = NameOfOne({one, refusal.paged, refusal.schema, refusal.error});
    if (!name.empty()) return name;
  }
  return "";
}

namespace {

// Counts of the same rows, none greater. Numbers of one length compare as their bytes.
bool AreFewer(const std::vector<ResultRow>& counts, const std::vector<ResultRow>& all) {
  if (counts.size() != all.size()) return false;
  for (size_t row = 0; row < all.size(); ++row) {
    for (size_t i = 0; i < all[row].size(); ++i) {
      if (counts[row][i] > all[row][i]) return false;
    }
  }
  return true;
}

// Whether it goes by an index on a column of the partition key.
bool UsesKeyIndex(const Statement& statement, const ModelSchema& schema) {
  if (!schema.index || schema.index->on != ModelIndex::On::kPartitionKey) return false;
  const auto is_open = [&](const ModelColumn& column) {
    return statement.RelationOf(column.name).empty();
  };
  return IsEquality(statement.RelationOf(schema.IndexedColumn().name)) &&
         std::ranges::any_of(schema.partition_key, is_open);
}

// Whether it names a partition, and goes by an index on a static column.
bool UsesStaticIndex(const Statement& statement, const ModelSchema& schema) {
  if (!schema.index || schema.index->on != ModelIndex::On::kValue) return false;
  if (!schema.is_static(schema.index->column)) return false;
  const auto is_named = [&](const ModelColumn& column) {
    return IsEquality(statement.RelationOf(column.name));
  };
  if (!std::ranges::all_of(schema.partition_key, is_named)) return false;
  const std::string& name = schema.IndexedColumn().name;
  const std::string_view relation = statement.RelationOf(name);
  return IsEquality(relation) || relation.starts_with(" CONTAINS ") ||
         statement.NamesElementOf(name);
}

// Whether it is the answer without some of the partitions that have no rows.
bool MissesPartitions(const std::vector<ResultRow>& found,
                      const std::function<std::vector<ResultRow>(const AnswerRules&)>& answer) {
  constexpr uint32_t kSets = 1u << 6;  // as many as the pools' values make as a rule
  AnswerRules rules;
  rules.json_of_java = true;
  for (rules.partitions_missed = 1; rules.partitions_missed < kSets; ++rules.partitions_missed) {
    if (found == answer(rules)) return true;
  }
  return false;
}

// Whether `all` begins with them, and goes on.
bool IsBeginOf(const std::vector<ResultRow>& rows, const std::vector<ResultRow>& all) {
  return rows.size() < all.size() && std::equal(rows.begin(), rows.end(), all.begin());
}

// Whether `all` has them, in this order.
bool IsPartOf(const std::vector<ResultRow>& rows, const std::vector<ResultRow>& all) {
  size_t next = 0;
  for (const ResultRow& row : all) {
    if (next < rows.size() && rows[next] == row) ++next;
  }
  return next == rows.size();
}

}  // namespace

std::vector<std::string> NamesOfOtherAnswer(
    std::string_view statement, bool paged, const ModelSchema& schema,
    const std::vector<ResultRow>& found,
    const std::function<std::vector<ResultRow>(const AnswerRules&)>& answer) {
  constexpr unsigned kAll = 1u << std::size(kRules);
  const Statement parsed(statement, schema);
  const bool filters_statics = parsed.filters() && parsed.NamesAny(schema.statics);
  const bool ends_early = paged || parsed.Says(" LIMIT ");
  const bool counts = statement.starts_with("SELECT count(");
  const bool by_static_index = UsesStaticIndex(parsed, schema);
  const bool restricts_rows = parsed.NamesAny(schema.clustering);
  for (int count = 0; count <= static_cast<int>(std::size(kRules)); ++count) {
    for (unsigned set = 0; set < kAll; ++set) {
      if (std::popcount(set) != count) continue;
      AnswerRules rules;
      std::vector<std::string> names;
      for (size_t i = 0; i < std::size(kRules); ++i) {
        if ((set >> i & 1) == 0) continue;
        rules.*kRules[i].rule = true;
        names.emplace_back(kRules[i].name);
      }
      const std::vector<ResultRow> other = answer(rules);
      if (found == other) return names;
      if (parsed.Selects("toDate(") && AreSameButDates(found, other)) {
        names.emplace_back("dates of times before 1970");
        return names;
      }
      // One page is found, and with relations on clustering columns no row at all.
      const bool finds_none = found.empty() || (counts && AreFewer(found, other));
      if (by_static_index &&
          ((paged && IsBeginOf(found, other)) || (restricts_rows && finds_none))) {
        names.emplace_back("an index on a static column beside its partition");
        return names;
      }
      // The same cuts counts short.
      if (filters_statics && ends_early && counts && AreFewer(found, other)) {
        names.emplace_back("static columns in filters");
        return names;
      }
      // Partitions whose static row alone passes are counted, and not answered with.
      if (filters_statics && ends_early && found.size() < other.size() && IsPartOf(found, other)) {
        names.emplace_back("static columns in filters");
        return names;
      }
    }
  }
  std::vector<std::string> names;
  if (UsesKeyIndex(parsed, schema) && MissesPartitions(found, answer)) {
    names.emplace_back("partitions without rows, by an index");
  }
  return names;
}

}  // namespace liststore::testing
