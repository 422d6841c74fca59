// `liststore export --file` and `import --file` as a user runs them: what is written is read back the same.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/temp_folder.h"
#include "tests/tools/copy/copy_server.h"
#include "tests/tools/program.h"
#include "tools/copy/csv.h"
#include "tools/copy/json_fields.h"

namespace liststore::testing {
namespace table_file_test {

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
void WriteFile(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

class TableFileTest : public ::testing::Test {
 protected:
  TableFileTest() { MakeKeyspace(server_); }

  ProgramResult Export(const std::string& table, const std::string& file,
                       std::vector<std::string> more = {}) {
    more.insert(more.begin(),
                {"export", "--via", server_.address(), "--table", table, "--file", file});
    return RunProgram(more);
  }
  ProgramResult Import(const std::string& table, const std::string& file,
                       std::vector<std::string> more = {}) {
    more.insert(more.begin(),
                {"import", "--via", server_.address(), "--table", table, "--file", file});
    return RunProgram(more);
  }
  // A table with one column of each of these types, and rows that have some of them.
  void MakeEverything() {
    server_.Run("CREATE TYPE feat.place (town text, zip int)");
    server_.Run(
        "CREATE TABLE feat.all (p text, c int, s text static, \"Mixed\" bigint, b boolean, d "
        "decimal, f float, u "
        "uuid, t timestamp, bl blob, l list<text>, m map<text, int>, pl frozen<place>, v varint, "
        "vs list<decimal>, "
        "PRIMARY "
        "KEY (p, c))");
    server_.Run(
        "INSERT INTO feat.all (p, c, s, \"Mixed\", b, d, f, u, t, bl, l, m, pl, v, vs) VALUES "
        "('a,\"b\"', 1, 'of all', "
        "9223372036854775807, true, 1.000000000000000000001, 0.25, "
        "123e4567-e89b-12d3-a456-426614174000, "
        "'2026-01-02 03:04:05.678+0000', 0x00ff, ['x', 'y,z', '\"'], {'k': 1}, {town: 'Ulm', zip: "
        "89073}, "
        "123456789012345678901234567890, [1.10, -123456789012345678901234567890.5])");
    server_.Run("INSERT INTO feat.all (p, c, s) VALUES ('line\nend', 2, '')");
    server_.Run("INSERT INTO feat.all (p, s) VALUES ('static alone', 'x')");
  }

  CopyServer server_;
  TempFolder folder_;
};

TEST_F(TableFileTest, WhatIsExportedIsImportedTheSame) {
  MakeEverything();
  const std::string all = "SELECT JSON * FROM feat.all";
  const std::vector<std::string> before = server_.Answer(all);
  ASSERT_EQ(before.size(), 3u);
  for (const std::string ending : {".jsonl", ".csv"}) {
    const std::string file = folder_.path() + "/all" + ending;
    ProgramResult result = Export("feat.all", file);
    ASSERT_EQ(result.exit_status, 0) << result.err;
    EXPECT_TRUE(Has(result.err, "3 rows of feat.all written to " + file)) << result.err;
    server_.Run("TRUNCATE feat.all");
    result = Import("feat.all", file);
    ASSERT_EQ(result.exit_status, 0) << result.err << ReadFile(file);
    EXPECT_TRUE(Has(result.err, "3 rows of feat.all inserted from " + file)) << result.err;
    EXPECT_EQ(server_.Answer(all), before) << ending;
  }
}

TEST_F(TableFileTest, AFileIsForPeopleToRead) {
  server_.Run("CREATE TABLE feat.clicks (user text, ts int, item bigint, PRIMARY KEY (user, ts))");
  server_.Run("INSERT INTO feat.clicks (user, ts, item) VALUES ('u1', 1, 7)");
  server_.Run("INSERT INTO feat.clicks (user, ts) VALUES ('u1', 2)");
  const std::string json = folder_.path() + "/clicks.jsonl";
  ASSERT_EQ(Export("feat.clicks", json).exit_status, 0);
  EXPECT_EQ(ReadFile(json),
            "{\"user\": \"u1\", \"ts\": 1, \"item\": 7}\n{\"user\": \"u1\", \"ts\": 2}\n");
  const ProgramResult csv = Export("feat.clicks", "-", {"--format", "csv"});
  EXPECT_EQ(csv.exit_status, 0) << csv.err;
  EXPECT_EQ(csv.out, "user,ts,item\nu1,1,7\nu1,2,\n");
}

TEST_F(TableFileTest, ManyRowsGoBothWays) {
  server_.Run("CREATE TABLE feat.clicks (user text, ts int, item bigint, PRIMARY KEY (user, ts))");
  std::string text = "ts,user,item\n";
  for (int i = 0; i < 3'000; ++i) {
    text += std::to_string(i) + ",u" + std::to_string(i % 7) + "," + std::to_string(i * i) + "\n";
  }
  const std::string file = folder_.path() + "/clicks.csv";
  WriteFile(file, text);
  ASSERT_EQ(Import("feat.clicks", file, {"--ttl", "100"}).exit_status, 0);
  EXPECT_EQ(server_.Number("SELECT count(*) FROM feat.clicks"), 3'000);
  EXPECT_EQ(server_.Number("SELECT item FROM feat.clicks WHERE user = 'u3' AND ts = 10"), 100);
  const std::string copy = folder_.path() + "/copy.jsonl";
  const ProgramResult result = Export("feat.clicks", copy, {"--page-rows", "100"});
  EXPECT_TRUE(Has(result.err, "3,000 rows of feat.clicks")) << result.err;
  server_.Advance(100);
  EXPECT_EQ(server_.Number("SELECT count(*) FROM feat.clicks"), 0);
}

TEST_F(TableFileTest, ALineThatCannotBeInsertedIsNamed) {
  server_.Run("CREATE TABLE feat.clicks (user text, ts int, item bigint, PRIMARY KEY (user, ts))");
  struct Case {
    const char* file;
    const char* text;
    const char* error;
  };
  const Case cases[] = {
      {"/a.csv", "user,ts,thing\n",
       "a.csv:1: the first line names a column thing, and feat.clicks "},
      {"/b.csv", "user,ts,item\nu1,1,7\nu1,2\n",
       "b.csv:3: 2 cells, and the first line has 3 columns"},
      {"/c.csv", "user,ts,item\nu1,1,seven\n", "c.csv:2: column item: seven is no bigint; 0 rows"},
      {"/d.csv", "user,ts\n\"u1,1\n", "d.csv:2: the file ends within quotation marks"},
      {"/e.jsonl", "{\"user\": \"u1\", \"ts\": 1}\n\nno\n", "e.jsonl:3: no JSON object; 1 row was"},
      // What the server refuses.
      {"/f.jsonl", "{\"user\": \"u1\", \"ts\": 1}\n{\"user\": \"u1\", \"ts\": \"x\"}\n",
       "f.jsonl:2: "},
      {"/g.csv", "", "g.csv:1: the file is empty"},
  };
  for (const Case& c : cases) {
    WriteFile(folder_.path() + c.file, c.text);
    const ProgramResult result = Import("feat.clicks", folder_.path() + c.file);
    EXPECT_EQ(result.exit_status, 2) << c.file;
    EXPECT_TRUE(Has(result.err, c.error)) << result.err;
  }
}

TEST_F(TableFileTest, TheServerMayBeNamedInTheEnvironment) {
  server_.Run("CREATE TABLE feat.seen (story text PRIMARY KEY)");
  server_.Run("INSERT INTO feat.seen (story) VALUES ('a')");
  setenv("LISTSTORE_ADDRESS", server_.address().c_str(), 1);
  const ProgramResult exported =
      RunProgram({"export", "--table", "feat.seen", "--file", "-", "--format", "csv"});
  unsetenv("LISTSTORE_ADDRESS");
  EXPECT_EQ(exported.exit_status, 0) << exported.err;
  EXPECT_EQ(exported.out, "story\na\n");
}

TEST_F(TableFileTest, WhatCannotBeIsSaid) {
  server_.Run("CREATE TABLE feat.opened (story text PRIMARY KEY, times counter)");
  struct Case {
    std::vector<std::string> arguments;
    std::string error;
  };
  const std::string via = server_.address();
  const Case cases[] = {
      {{"export", "--via", via},
       "liststore export: --to HOST:PORT, a node of the cluster, or --file is wanted\n"},
      {{"import", "--via", via},
       "liststore import: --from HOST:PORT, a node of the cluster, or --file is wanted\n"},
      {{"export", "--via", via, "--file", "x.csv"},
       "liststore export: a file has the rows of one table: give one --table\n"},
      {{"export", "--via", via, "--file", "x.csv", "--table", "feat.opened", "--to", via},
       "liststore export: a file is given, and a cluster: it is one or the other\n"},
      {{"export", "--via", via, "--file", "x.txt", "--table", "feat.opened"},
       "liststore export: x.txt ends neither in .jsonl nor in .csv: say --format json or csv\n"},
      {{"export", "--via", via, "--file", "x.csv", "--table", "feat.nothing"},
       "liststore export: " + via + " has no table feat.nothing\n"},
      {{"export", "--via", via, "--file", "x.csv", "--table", "opened"},
       "liststore export: --table is opened, not KEYSPACE.TABLE\n"},
  };
  for (const Case& c : cases) {
    const ProgramResult result = RunProgram(c.arguments);
    EXPECT_EQ(result.exit_status, 2);
    EXPECT_EQ(result.err, c.error);
  }
  WriteFile(folder_.path() + "/opened.csv", "story,times\na,1\n");
  const ProgramResult result = Import("feat.opened", folder_.path() + "/opened.csv");
  EXPECT_EQ(result.exit_status, 2);
  EXPECT_TRUE(Has(result.err, "feat.opened has counters, which can only be added to"))
      << result.err;
}

TEST(Csv, RecordsAreReadAsTheyWereWritten) {
  const std::vector<std::vector<CsvCell>> records = {
      {"a", std::nullopt, "", "b c"},
      {"with,comma", "with \"quotes\"", "with\nline", "with\r\nboth"},
      {std::nullopt, std::nullopt},
      {"\xc3\xa4"},
      {""},
  };
  std::string text;
  for (const auto& record : records) AppendCsvLine(record, text);
  std::istringstream in(text);
  CsvReader reader(in);
  std::vector<CsvCell> cells;
  const uint64_t lines[] = {1, 2, 5, 6, 7};
  for (size_t i = 0; i < records.size(); ++i) {
    ASSERT_TRUE(*reader.Next(&cells));
    EXPECT_EQ(cells, records[i]);
    EXPECT_EQ(reader.line(), lines[i]);
  }
  EXPECT_FALSE(*reader.Next(&cells));
}

TEST(Csv, LinesMayEndAsOnOtherSystemsAndTheLastOneNotAtAll) {
  std::istringstream in("a,b\r\n\"c\",d\r\ne,");
  CsvReader reader(in);
  std::vector<CsvCell> cells;
  ASSERT_TRUE(*reader.Next(&cells));
  EXPECT_EQ(cells, (std::vector<CsvCell>{"a", "b"}));
  ASSERT_TRUE(*reader.Next(&cells));
  EXPECT_EQ(cells, (std::vector<CsvCell>{"c", "d"}));
  ASSERT_TRUE(*reader.Next(&cells));
  EXPECT_EQ(cells, (std::vector<CsvCell>{"e", std::nullopt}));
  EXPECT_FALSE(*reader.Next(&cells));
}

TEST(JsonFields, ValuesStayAsTheyStandThere) {
  const std::string text =
      R"({"a": 1.000000000000000000001, "\"B\"": "x,}\"", "c" : [1, {"d": null}] , "e": null})";
  const auto fields = FieldsOf(text);
  ASSERT_TRUE(fields);
  ASSERT_EQ(fields->size(), 4u);
  EXPECT_EQ((*fields)[0].value, "1.000000000000000000001");
  EXPECT_EQ((*fields)[1].name, R"("\"B\"")");
  EXPECT_EQ((*fields)[1].value, R"("x,}\"")");
  EXPECT_EQ((*fields)[2].value, R"([1, {"d": null}])");
  EXPECT_EQ((*fields)[3].value, "null");
  EXPECT_TRUE(FieldsOf("{}")->empty());
  for (const char* none : {"", "[1]", "{\"a\": }", "{\"a\": 1} x", "1, 2"}) {
    EXPECT_FALSE(FieldsOf(none)) << none;
  }
  EXPECT_TRUE(IsJsonValue("1"));
  EXPECT_FALSE(IsJsonValue("1, \"x\": 2"));
  EXPECT_EQ(WithQuotedNumbers(R"({"a1": [1.10, -2e5, true, null], "b": "3 \" 4", "c": 5})"),
            R"({"a1": ["1.10", "-2e5", true, null], "b": "3 \" 4", "c": "5"})");
  EXPECT_EQ(TextOfJson(JsonOfText("\xc3\xa4\n\"")), "\xc3\xa4\n\"");
  EXPECT_FALSE(TextOfJson("1"));
}

}  // namespace table_file_test
}  // namespace liststore::testing
