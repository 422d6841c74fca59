#include "engine/cql/syntax/statement_outline.h"

#include <gtest/gtest.h>

#include <string>

namespace liststore {
namespace statement_outline_test {

struct Case {
  const char* text;
  StatementOp op;
  const char* keyspace;
  const char* table;
};

TEST(StatementOutline, SaysWhatATextDoesAndToWhichTable) {
  const Case cases[] = {
      {"SELECT * FROM feat.clicks WHERE user = 'u1'", StatementOp::kSelect, "feat", "clicks"},
      {"select count(*), \"from\", 'from x.y' from t", StatementOp::kSelect, "ks", "t"},
      {"SELECT json FROM \"Feat\" . \"Clicks\"", StatementOp::kSelect, "Feat", "Clicks"},
      {"-- FROM a.b\n/* FROM c.d */ SELECT a FROM e.f", StatementOp::kSelect, "e", "f"},
      {"INSERT INTO FEAT.Clicks (a) VALUES (1)", StatementOp::kInsert, "feat", "clicks"},
      {"INSERT INTO t JSON '{}'", StatementOp::kInsert, "ks", "t"},
      {"UPDATE feat.clicks USING TTL 3 SET a = 1", StatementOp::kUpdate, "feat", "clicks"},
      {"DELETE a, b FROM feat.clicks WHERE c = 1", StatementOp::kDelete, "feat", "clicks"},
      {"DELETE FROM clicks", StatementOp::kDelete, "ks", "clicks"},
      {"TRUNCATE feat.clicks", StatementOp::kTruncate, "feat", "clicks"},
      {"TRUNCATE TABLE clicks", StatementOp::kTruncate, "ks", "clicks"},
      {"BEGIN UNLOGGED BATCH USING TIMESTAMP 1 INSERT INTO a.b (c) VALUES (1); APPLY BATCH",
       StatementOp::kBatch, "a", "b"},
      {"BEGIN BATCH APPLY BATCH", StatementOp::kBatch, "", ""},
      {"USE feat", StatementOp::kUse, "feat", ""},
      {"CREATE TABLE IF NOT EXISTS feat.clicks (a int PRIMARY KEY)", StatementOp::kCreate, "feat",
       "clicks"},
      {"CREATE KEYSPACE feat WITH replication = {}", StatementOp::kCreate, "feat", ""},
      {"CREATE INDEX ON feat.clicks (a)", StatementOp::kCreate, "", ""},
      {"ALTER TABLE clicks ADD b int", StatementOp::kAlter, "ks", "clicks"},
      {"DROP TABLE IF EXISTS clicks", StatementOp::kDrop, "ks", "clicks"},
      {"DROP KEYSPACE feat", StatementOp::kDrop, "feat", ""},
      {"DESC TABLES", StatementOp::kDescribe, "", ""},
      {"GRANT ALL ON x TO y", StatementOp::kOther, "", ""},
      {"SELEC * FROM a.b", StatementOp::kOther, "", ""},
      {"SELECT * FROM", StatementOp::kSelect, "", ""},
      {"SELECT * FROM 'x'", StatementOp::kSelect, "", ""},
      {"SELECT 'no end", StatementOp::kSelect, "", ""},
      {"UPDATE a.", StatementOp::kUpdate, "ks", "a"},
      {"", StatementOp::kOther, "", ""},
  };
  for (const Case& c : cases) {
    const StatementOutline outline = OutlineOf(c.text, "ks");
    EXPECT_EQ(outline.op, c.op) << c.text;
    EXPECT_EQ(outline.keyspace, c.keyspace) << c.text;
    EXPECT_EQ(outline.table, c.table) << c.text;
  }
}

TEST(StatementOutline, NamesOfTables) {
  EXPECT_EQ(QualifiedTable({StatementOp::kSelect, "a", "b"}), "a.b");
  EXPECT_EQ(QualifiedTable({StatementOp::kSelect, "", "b"}), "b");
  EXPECT_EQ(QualifiedTable({StatementOp::kUse, "a", ""}), "a");
}

TEST(StatementOutline, OperationsHaveNames) {
  for (int op = 0; op <= static_cast<int>(StatementOp::kOther); ++op) {
    const auto value = static_cast<StatementOp>(op);
    EXPECT_EQ(ParseStatementOp(ToString(value)), value);
  }
  EXPECT_EQ(ParseStatementOp("insert"), StatementOp::kInsert);
  EXPECT_FALSE(ParseStatementOp("INSERTS").has_value());
  EXPECT_FALSE(ParseStatementOp("").has_value());
}

TEST(StatementOutline, TheServersOwnKeyspaces) {
  EXPECT_TRUE(IsServersKeyspace("liststore"));
  EXPECT_TRUE(IsServersKeyspace("system"));
  EXPECT_TRUE(IsServersKeyspace("system_schema"));
  EXPECT_FALSE(IsServersKeyspace("systems"));
  EXPECT_FALSE(IsServersKeyspace(""));
}

}  // namespace statement_outline_test
}  // namespace liststore
