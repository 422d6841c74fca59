#include "engine/cql/syntax/statement_outline.h"

#include <gtest/gtest.h>

#include <string>

namespace liststore {
namespace statement_outline_test {

struct Case {
  const char* text;
  cql::StatementOp op;
  const char* keyspace;
  const char* table;
};

TEST(StatementOutline, SaysWhatATextDoesAndToWhichTable) {
  const Case cases[] = {
      {"SELECT * FROM feat.clicks WHERE user = 'u1'", cql::StatementOp::kSelect, "feat", "clicks"},
      {"select count(*), \"from\", 'from x.y' from t", cql::StatementOp::kSelect, "ks", "t"},
      {"SELECT json FROM \"Feat\" . \"Clicks\"", cql::StatementOp::kSelect, "Feat", "Clicks"},
      {"-- FROM a.b\n/* FROM c.d */ SELECT a FROM e.f", cql::StatementOp::kSelect, "e", "f"},
      {"INSERT INTO FEAT.Clicks (a) VALUES (1)", cql::StatementOp::kInsert, "feat", "clicks"},
      {"INSERT INTO t JSON '{}'", cql::StatementOp::kInsert, "ks", "t"},
      {"UPDATE feat.clicks USING TTL 3 SET a = 1", cql::StatementOp::kUpdate, "feat", "clicks"},
      {"DELETE a, b FROM feat.clicks WHERE c = 1", cql::StatementOp::kDelete, "feat", "clicks"},
      {"DELETE FROM clicks", cql::StatementOp::kDelete, "ks", "clicks"},
      {"TRUNCATE feat.clicks", cql::StatementOp::kTruncate, "feat", "clicks"},
      {"TRUNCATE TABLE clicks", cql::StatementOp::kTruncate, "ks", "clicks"},
      {"BEGIN UNLOGGED BATCH USING TIMESTAMP 1 INSERT INTO a.b (c) VALUES (1); APPLY BATCH",
       cql::StatementOp::kBatch, "a", "b"},
      {"BEGIN BATCH APPLY BATCH", cql::StatementOp::kBatch, "", ""},
      {"USE feat", cql::StatementOp::kUse, "feat", ""},
      {"CREATE TABLE IF NOT EXISTS feat.clicks (a int PRIMARY KEY)", cql::StatementOp::kCreate,
       "feat", "clicks"},
      {"CREATE KEYSPACE feat WITH replication = {}", cql::StatementOp::kCreate, "feat", ""},
      {"CREATE INDEX ON feat.clicks (a)", cql::StatementOp::kCreate, "", ""},
      {"ALTER TABLE clicks ADD b int", cql::StatementOp::kAlter, "ks", "clicks"},
      {"DROP TABLE IF EXISTS clicks", cql::StatementOp::kDrop, "ks", "clicks"},
      {"DROP KEYSPACE feat", cql::StatementOp::kDrop, "feat", ""},
      {"DESC TABLES", cql::StatementOp::kDescribe, "", ""},
      {"GRANT ALL ON x TO y", cql::StatementOp::kOther, "", ""},
      {"SELEC * FROM a.b", cql::StatementOp::kOther, "", ""},
      {"SELECT * FROM", cql::StatementOp::kSelect, "", ""},
      {"SELECT * FROM 'x'", cql::StatementOp::kSelect, "", ""},
      {"SELECT 'no end", cql::StatementOp::kSelect, "", ""},
      {"UPDATE a.", cql::StatementOp::kUpdate, "ks", "a"},
      {"", cql::StatementOp::kOther, "", ""},
  };
  for (const Case& c : cases) {
    const cql::StatementOutline outline = cql::OutlineOf(c.text, "ks");
    EXPECT_EQ(outline.op, c.op) << c.text;
    EXPECT_EQ(outline.keyspace, c.keyspace) << c.text;
    EXPECT_EQ(outline.table, c.table) << c.text;
  }
}

TEST(StatementOutline, NamesOfTables) {
  EXPECT_EQ(cql::QualifiedTable({cql::StatementOp::kSelect, "a", "b"}), "a.b");
  EXPECT_EQ(cql::QualifiedTable({cql::StatementOp::kSelect, "", "b"}), "b");
  EXPECT_EQ(cql::QualifiedTable({cql::StatementOp::kUse, "a", ""}), "a");
}

TEST(StatementOutline, OperationsHaveNames) {
  for (int op = 0; op <= static_cast<int>(cql::StatementOp::kOther); ++op) {
    const auto value = static_cast<cql::StatementOp>(op);
    EXPECT_EQ(cql::ParseStatementOp(cql::ToString(value)), value);
  }
  EXPECT_EQ(cql::ParseStatementOp("insert"), cql::StatementOp::kInsert);
  EXPECT_FALSE(cql::ParseStatementOp("INSERTS").has_value());
  EXPECT_FALSE(cql::ParseStatementOp("").has_value());
}

TEST(StatementOutline, TheServersOwnKeyspaces) {
  EXPECT_TRUE(cql::IsServersKeyspace("liststore"));
  EXPECT_TRUE(cql::IsServersKeyspace("system"));
  EXPECT_TRUE(cql::IsServersKeyspace("system_schema"));
  EXPECT_FALSE(cql::IsServersKeyspace("systems"));
  EXPECT_FALSE(cql::IsServersKeyspace(""));
}

}  // namespace statement_outline_test
}  // namespace liststore
