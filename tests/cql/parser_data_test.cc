// What the trees of SELECT, INSERT, UPDATE, DELETE, BATCH, TRUNCATE and USE hold.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/cql/syntax/expression.h"
#include "engine/cql/syntax/parser.h"
#include "engine/cql/syntax/statement.h"
#include "tests/cql/parse.h"

namespace liststore {
namespace parser_data_test {

using testing::Joined;
using testing::Parsed;

std::string Selectors(const cql::SelectStatement& select) {
  std::string text;
  for (const cql::Selector& selector : select.selectors) {
    if (!text.empty()) text += " | ";
    text += cql::ToString(selector.expression);
    if (!selector.alias.empty()) text += " AS " + selector.alias;
  }
  return text;
}

std::string Text(const std::optional<cql::Expression>& expression) {
  return expression ? cql::ToString(*expression) : "none";
}

TEST(ParseSelectTest, TheListModelsRead) {
  std::vector<std::string> markers;
  const auto select = Parsed<cql::SelectStatement>(
      "SELECT item_key, value FROM list_items WHERE feature_key=? AND entity_id=? AND item_key >= "
      "? "
      "ORDER BY item_key DESC LIMIT ?",
      &markers);
  EXPECT_EQ(Selectors(select), "item_key | value");
  EXPECT_EQ(cql::ToString(select.table), "list_items");
  EXPECT_EQ(Joined(select.where), "feature_key = ? | entity_id = ? | item_key >= ?");
  ASSERT_EQ(select.order_by.size(), 1u);
  EXPECT_EQ(select.order_by[0].column, "item_key");
  EXPECT_TRUE(select.order_by[0].descending);
  EXPECT_EQ(select.limit->As<cql::BindMarker>()->index, 3u);
  EXPECT_EQ(markers, std::vector<std::string>(4, ""));
  EXPECT_EQ(select.where[1].position, (cql::SourcePosition{1, 63}));
}

TEST(ParseSelectTest, EveryClause) {
  const auto select = Parsed<cql::SelectStatement>(
      "select json distinct a from Ks.\"T\" where a = 1 group by a, b order by c asc, d per "
      "partition "
      "limit 2 limit 3 allow filtering bypass cache using timeout 50ms;");
  EXPECT_TRUE(select.json);
  EXPECT_TRUE(select.distinct);
  EXPECT_EQ(cql::ToString(select.table), "ks.T");
  EXPECT_EQ(select.group_by, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(select.order_by.size(), 2u);
  EXPECT_FALSE(select.order_by[1].descending);
  EXPECT_EQ(Text(select.per_partition_limit), "2");
  EXPECT_EQ(Text(select.limit), "3");
  EXPECT_TRUE(select.allow_filtering);
  EXPECT_TRUE(select.bypass_cache);
  EXPECT_EQ(Text(select.timeout), "50ms");
  EXPECT_EQ(select.timeout->As<cql::Constant>()->kind, cql::ConstantKind::kDuration);
}

struct SelectorExample {
  std::string_view text;
  std::string_view printed;
};

constexpr SelectorExample kSelectors[] = {
    {"*", ""},
    {"a, B AS \"C\", \"D\"", "a | b AS C | \"D\""},
    {"count(*), COUNT(1), count(a) as n", "count(*) | count(*) | count(a) AS n"},
    {"writetime(a), TTL(b), ttl(m['k']), WriteTime(u.f)",
     "writetime(a) | ttl(b) | ttl(m['k']) | writetime(u.f)"},
    {"cast(a as text), CAST(max(b) AS bigint) AS m",
     "cast(a as text) | cast(max(b) as bigint) AS m"},
    {"token(a, b), system.max(v), now()", "token(a, b) | system.max(v) | now()"},
    {"m['k'], u.f, l[?]", "m['k'] | u.f | l[?]"},
    {"1, 'x', 0xff, null, -NaN, [1, 2], {1}, {'a': 1}",
     "1 | 'x' | 0xff | null | -NaN | [1, 2] | "
     "{1} | {'a': 1}"},
    {"json, distinct", "json | distinct"},
    {"distinct", "distinct"},
    {"json", "json"},
    {"ttl, count, writetime, key, token(key)", "ttl | count | writetime | key | token(key)"},
    {"(int) 5, (1, 2)", "(int)5 | (1, 2)"},
};

TEST(ParseSelectTest, Selectors) {
  for (const SelectorExample& example : kSelectors) {
    const auto select =
        Parsed<cql::SelectStatement>("SELECT " + std::string(example.text) + " FROM t");
    EXPECT_EQ(Selectors(select), example.printed);
    EXPECT_FALSE(select.json) << example.text;
    EXPECT_FALSE(select.distinct) << example.text;
  }
}

struct WhereExample {
  std::string_view text;
  std::string_view printed;
  cql::Relation::Target target;
  cql::RelationOperator op;
};

using Target = cql::Relation::Target;
using Op = cql::RelationOperator;
constexpr WhereExample kRelations[] = {
    {"a = 1", "a = 1", Target::kColumn, Op::kEqual},
    {"a < 1", "a < 1", Target::kColumn, Op::kLess},
    {"a <= -1", "a <= -1", Target::kColumn, Op::kLessOrEqual},
    {"a > :x", "a > ?", Target::kColumn, Op::kGreater},
    {"a>=?", "a >= ?", Target::kColumn, Op::kGreaterOrEqual},
    {"a != 'x'", "a != 'x'", Target::kColumn, Op::kNotEqual},
    {"a IN ?", "a IN ?", Target::kColumn, Op::kIn},
    {"a IN :list", "a IN ?", Target::kColumn, Op::kIn},
    {"a in ()", "a IN ()", Target::kColumn, Op::kIn},
    {"a IN (1, ?, 3)", "a IN (1, ?, 3)", Target::kColumn, Op::kIn},
    {"a NOT IN (1)", "a NOT IN (1)", Target::kColumn, Op::kNotIn},
    {"a CONTAINS 1", "a CONTAINS 1", Target::kColumn, Op::kContains},
    {"a CONTAINS KEY 'k'", "a CONTAINS KEY 'k'", Target::kColumn, Op::kContainsKey},
    {"a LIKE '%x'", "a LIKE '%x'", Target::kColumn, Op::kLike},
    {"a IS NOT NULL", "a IS NOT null", Target::kColumn, Op::kIsNotNull},
    {"m['k'] = 1", "m['k'] = 1", Target::kElement, Op::kEqual},
    {"(a, b) > (?, 2)", "(a, b) > (?, 2)", Target::kTuple, Op::kGreater},
    {"(a) = (1)", "(a) = (1)", Target::kTuple, Op::kEqual},
    {"(a, b) >= ?", "(a, b) >= ?", Target::kTuple, Op::kGreaterOrEqual},
    {"(a, b) IN ((1, 2), (?, 4))", "(a, b) IN ((1, 2), (?, 4))", Target::kTuple, Op::kIn},
    {"(a, b) IN (?, ?)", "(a, b) IN (?, ?)", Target::kTuple, Op::kIn},
    {"(a, b) IN ?", "(a, b) IN ?", Target::kTuple, Op::kIn},
    {"(a, b) IN ()", "(a, b) IN ()", Target::kTuple, Op::kIn},
    {"token(a, b) > ?", "token(a, b) > ?", Target::kToken, Op::kGreater},
    {"token(a) >= token(1)", "token(a) >= token(1)", Target::kToken, Op::kGreaterOrEqual},
    {"f(a, 1) = 2", "f(a, 1) = 2", Target::kFunction, Op::kEqual},
    {"ks.f(a) = 2", "ks.f(a) = 2", Target::kFunction, Op::kEqual},
    {"(a = 1)", "a = 1", Target::kColumn, Op::kEqual},
    {"a = {1: 2}", "a = {1: 2}", Target::kColumn, Op::kEqual},
    {"key = 'local'", "key = 'local'", Target::kColumn, Op::kEqual},
};

TEST(ParseSelectTest, Relations) {
  for (const WhereExample& example : kRelations) {
    const auto select =
        Parsed<cql::SelectStatement>("SELECT * FROM t WHERE " + std::string(example.text));
    ASSERT_EQ(select.where.size(), 1u) << example.text;
    EXPECT_EQ(cql::ToString(select.where[0]), example.printed);
    EXPECT_EQ(select.where[0].target, example.target) << example.text;
    EXPECT_EQ(select.where[0].op, example.op) << example.text;
  }
}

struct TermExample {
  std::string_view text;
  std::string_view printed;
};

constexpr TermExample kTerms[] = {
    {"null", "null"},
    {"'it''s'", "'it''s'"},
    {"$$it's$$", "'it''s'"},
    {"[1,'a',[]]", "[1, 'a', []]"},
    {"{}", "{}"},
    {"{1, 2}", "{1, 2}"},
    {"{'a': 1, 'b': 2}", "{'a': 1, 'b': 2}"},
    {"{a: 1, \"B\": ?}", "{a: 1, \"B\": ?}"},
    {"{?: :v}", "{?: ?}"},
    {"(1, null)", "(1, null)"},
    {"(1)", "(1)"},
    {"(int) 1", "(int)1"},
    {"(list<int>) [1]", "(list<int>)[1]"},
    {"(frozen<map<text, int>>) {}", "(frozen<map<text, int>>){}"},
    {"(ks.address) {street: 'x'}", "(ks.address){street: 'x'}"},
    {"(text) (ascii) 'x'", "(text)(ascii)'x'"},
    {"now()", "now()"},
    {"ks.f(1, ?)", "ks.f(1, ?)"},
    {"(now(), 1)", "(now(), 1)"},
    {"token(1)", "token(1)"},
    {"\"ttl\"(1)", "\"ttl\"(1)"},
    {"(\"int\") {a: 1}", "(\"int\"){a: 1}"},
    {"(\"empty\") {a: 1}", "(\"empty\"){a: 1}"},
    {"NaN", "NaN"},
    {"-Infinity", "-Infinity"},
    {"true", "true"},
    {"1h30m", "1h30m"},
    {"0xCAFE", "0xCAFE"},
};

TEST(ParseTermTest, TermsPrintAsTheyAreRead) {
  for (const TermExample& example : kTerms) {
    const cql::CqlOr<cql::Expression> term = cql::ParseTerm(example.text);
    ASSERT_TRUE(term.ok()) << example.text << ": " << term.error().message;
    EXPECT_EQ(cql::ToString(*term), example.printed);
    const cql::CqlOr<cql::Expression> again = cql::ParseTerm(cql::ToString(*term));
    ASSERT_TRUE(again.ok()) << example.printed;
    EXPECT_EQ(cql::ToString(*again), example.printed);
  }
}

TEST(ParseTermTest, LiteralsAreWhatNeedsNothingElse) {
  for (const std::string_view text : {"1", "null", "[1, {2}]", "(int) 1", "{1: (2, null)}"}) {
    EXPECT_TRUE(cql::IsLiteral(*cql::ParseTerm(text))) << text;
  }
  for (const std::string_view text : {"?", "[?]", "now()", "{1: :x}", "(int) ?"}) {
    EXPECT_FALSE(cql::IsLiteral(*cql::ParseTerm(text))) << text;
  }
}

TEST(ParseTermTest, TheSameNameIsOneMarker) {
  std::vector<std::string> markers;
  const auto insert = Parsed<cql::InsertStatement>(
      "INSERT INTO t (a, b, c, d) VALUES (:x, ?, :X, :\"X\")", &markers);
  EXPECT_EQ(markers, (std::vector<std::string>{"x", "", "X"}));
  EXPECT_EQ(insert.values[0].As<cql::BindMarker>()->index, 0u);
  EXPECT_EQ(insert.values[1].As<cql::BindMarker>()->index, 1u);
  EXPECT_EQ(insert.values[2].As<cql::BindMarker>()->index, 0u);
  EXPECT_EQ(insert.values[3].As<cql::BindMarker>()->index, 2u);
}

TEST(ParseInsertTest, TheListModelsWrite) {
  std::vector<std::string> markers;
  const auto insert = Parsed<cql::InsertStatement>(
      "INSERT INTO list_items (feature_key, entity_id, item_key, value) VALUES (?, ?, ?, ?) "
      "USING TTL ? AND TIMESTAMP ?",
      &markers);
  EXPECT_EQ(insert.columns,
            (std::vector<std::string>{"feature_key", "entity_id", "item_key", "value"}));
  EXPECT_EQ(insert.values.size(), 4u);
  EXPECT_EQ(insert.attributes.ttl->As<cql::BindMarker>()->index, 4u);
  EXPECT_EQ(insert.attributes.timestamp->As<cql::BindMarker>()->index, 5u);
  EXPECT_EQ(Text(insert.attributes.timeout), "none");
  EXPECT_EQ(markers.size(), 6u);
}

TEST(ParseInsertTest, EveryClause) {
  const auto insert = Parsed<cql::InsertStatement>(
      "INSERT INTO ks.t (a) VALUES (1, 2) IF NOT EXISTS USING TIMEOUT 1s AND TIMESTAMP -5 AND TTL "
      "0");
  EXPECT_EQ(cql::ToString(insert.table), "ks.t");
  EXPECT_TRUE(insert.if_not_exists);
  EXPECT_EQ(insert.values.size(), 2u) << "their number is for the planner to compare";
  EXPECT_EQ(Text(insert.attributes.timeout), "1s");
  EXPECT_EQ(Text(insert.attributes.timestamp), "-5");
  EXPECT_EQ(Text(insert.attributes.ttl), "0");
}

TEST(ParseInsertTest, Json) {
  const auto insert = Parsed<cql::InsertJsonStatement>(
      "INSERT INTO t JSON '{\"a\": 1}' DEFAULT UNSET IF NOT EXISTS USING TTL 5");
  EXPECT_EQ(cql::ToString(insert.json), "'{\"a\": 1}'");
  EXPECT_TRUE(insert.default_unset);
  EXPECT_TRUE(insert.if_not_exists);
  EXPECT_FALSE(Parsed<cql::InsertJsonStatement>("INSERT INTO t JSON ? DEFAULT NULL").default_unset);
}

struct AssignmentExample {
  std::string_view text;
  cql::Assignment::Kind kind;
  std::string_view value;
};

constexpr AssignmentExample kAssignments[] = {
    {"c = 1", cql::Assignment::Kind::kSet, "1"},
    {"c = ?", cql::Assignment::Kind::kSet, "?"},
    {"c = now()", cql::Assignment::Kind::kSet, "now()"},
    {"c = c + 1", cql::Assignment::Kind::kAdd, "1"},
    {"c = c + [1]", cql::Assignment::Kind::kAdd, "[1]"},
    {"c = c - ?", cql::Assignment::Kind::kSubtract, "?"},
    {"c = c -3", cql::Assignment::Kind::kAdd, "-3"},
    {"c = c-3", cql::Assignment::Kind::kAdd, "-3"},
    {"c += 2", cql::Assignment::Kind::kAdd, "2"},
    {"c -= {1}", cql::Assignment::Kind::kSubtract, "{1}"},
    {"c = [1] + c", cql::Assignment::Kind::kPrepend, "[1]"},
    {"c['k'] = 1", cql::Assignment::Kind::kSetElement, "1"},
    {"c.f = 1", cql::Assignment::Kind::kSetField, "1"},
};

TEST(ParseUpdateTest, Assignments) {
  for (const AssignmentExample& example : kAssignments) {
    const auto update =
        Parsed<cql::UpdateStatement>("UPDATE t SET " + std::string(example.text) + " WHERE a = 1");
    ASSERT_EQ(update.assignments.size(), 1u) << example.text;
    EXPECT_EQ(update.assignments[0].column, "c");
    EXPECT_EQ(update.assignments[0].kind, example.kind) << example.text;
    EXPECT_EQ(cql::ToString(update.assignments[0].value), example.value);
  }
}

TEST(ParseUpdateTest, EveryClause) {
  const auto update = Parsed<cql::UpdateStatement>(
      "UPDATE ks.t USING TTL ? AND TIMESTAMP 5 SET a = ?, m['k'] = 2, u.f = 3 WHERE k = ? AND c = "
      "1 "
      "IF v = 3 AND m['x'] != null AND u.f IN (1, 2) AND w IN ?");
  EXPECT_EQ(update.attributes.ttl->As<cql::BindMarker>()->index, 0u);
  EXPECT_EQ(update.assignments[0].value.As<cql::BindMarker>()->index, 1u);
  EXPECT_EQ(Text(update.assignments[1].element), "'k'");
  EXPECT_EQ(update.assignments[2].field, "f");
  EXPECT_EQ(Joined(update.where), "k = ? | c = 1");
  EXPECT_FALSE(update.if_exists);
  EXPECT_EQ(Joined(update.conditions), "v = 3 | m['x'] != null | u.f IN (1, 2) | w IN ?");
  EXPECT_TRUE(Parsed<cql::UpdateStatement>("UPDATE t SET a = 1 WHERE k = 1 IF EXISTS").if_exists);
  EXPECT_EQ(
      Joined(
          Parsed<cql::UpdateStatement>("UPDATE t SET a = 1 WHERE k = 1 IF exists = 1").conditions),
      "exists = 1");
}

TEST(ParseDeleteTest, EveryClause) {
  const auto all = Parsed<cql::DeleteStatement>(
      "DELETE FROM list_items WHERE feature_key=? AND entity_id=? AND item_key IN ?");
  EXPECT_TRUE(all.deletions.empty());
  EXPECT_EQ(Joined(all.where), "feature_key = ? | entity_id = ? | item_key IN ?");
  const auto some = Parsed<cql::DeleteStatement>(
      "DELETE a, m['k'], u.f FROM ks.t USING TIMESTAMP ? AND TIMEOUT 5ms WHERE k = 1 IF EXISTS");
  ASSERT_EQ(some.deletions.size(), 3u);
  EXPECT_EQ(some.deletions[0].column, "a");
  EXPECT_EQ(Text(some.deletions[1].element), "'k'");
  EXPECT_EQ(some.deletions[2].field, "f");
  EXPECT_EQ(Text(some.attributes.timestamp), "?");
  EXPECT_EQ(Text(some.attributes.timeout), "5ms");
  EXPECT_TRUE(some.if_exists);
  EXPECT_EQ(Joined(Parsed<cql::DeleteStatement>("DELETE FROM t WHERE k = 1 IF v = 2").conditions),
            "v = 2");
}

TEST(ParseBatchTest, KindsAndStatements) {
  std::vector<std::string> markers;
  const auto batch = Parsed<cql::BatchStatement>(
      "BEGIN UNLOGGED BATCH USING TIMESTAMP 5 INSERT INTO t (a) VALUES (?); "
      "UPDATE t SET a = ? WHERE k = ?  DELETE FROM t WHERE k = ?; INSERT INTO t JSON '{}' APPLY "
      "BATCH;",
      &markers);
  EXPECT_EQ(batch.kind, cql::BatchStatement::Kind::kUnlogged);
  EXPECT_EQ(Text(batch.attributes.timestamp), "5");
  ASSERT_EQ(batch.statements.size(), 4u);
  EXPECT_TRUE(std::holds_alternative<cql::InsertStatement>(batch.statements[0]));
  EXPECT_TRUE(std::holds_alternative<cql::UpdateStatement>(batch.statements[1]));
  EXPECT_TRUE(std::holds_alternative<cql::DeleteStatement>(batch.statements[2]));
  EXPECT_TRUE(std::holds_alternative<cql::InsertJsonStatement>(batch.statements[3]));
  EXPECT_EQ(std::get<cql::DeleteStatement>(batch.statements[2])
                .where[0]
                .value.As<cql::BindMarker>()
                ->index,
            3u);
  EXPECT_EQ(markers.size(), 4u);
  EXPECT_EQ(Parsed<cql::BatchStatement>("BEGIN BATCH APPLY BATCH").kind,
            cql::BatchStatement::Kind::kLogged);
  EXPECT_EQ(Parsed<cql::BatchStatement>("BEGIN COUNTER BATCH APPLY BATCH").kind,
            cql::BatchStatement::Kind::kCounter);
  EXPECT_EQ(Text(Parsed<cql::BatchStatement>("BEGIN BATCH USING TTL 1 APPLY BATCH").attributes.ttl),
            "1");
}

TEST(ParseOtherTest, TruncateAndUse) {
  EXPECT_EQ(cql::ToString(Parsed<cql::TruncateStatement>("TRUNCATE t").table), "t");
  EXPECT_EQ(cql::ToString(Parsed<cql::TruncateStatement>("TRUNCATE TABLE ks.t;").table), "ks.t");
  EXPECT_EQ(
      Text(Parsed<cql::TruncateStatement>("TRUNCATE COLUMNFAMILY t USING TIMEOUT 5s").timeout),
      "5s");
  EXPECT_EQ(Parsed<cql::UseStatement>("USE ks").keyspace, "ks");
  EXPECT_EQ(Parsed<cql::UseStatement>("use \"My_ks\";").keyspace, "My_ks");
}

}  // namespace parser_data_test
}  // namespace liststore
