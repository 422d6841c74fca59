// Every statement of docs/cql_errors.md is wrong in the way that the page says.
#include <gtest/gtest.h>

#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/over_cql/cql_session_test.h"

namespace liststore::testing {
namespace error_table_test {

constexpr size_t kRowsMin = 250;

struct WrongStatement {
  std::string cell;  // as the page has it
  std::string text;
  std::vector<BoundParameter> values;
  std::string code, error;
};

std::string ReadPage() {
  const std::ifstream file(LISTSTORE_DOCS_DIR "/cql_errors.md");
  std::ostringstream page;
  page << file.rdbuf();
  return page.str();
}

// The statements of the block of SQL.
std::vector<std::string> SchemaOf(std::string_view page) {
  constexpr std::string_view kBegin = "```sql\n";
  page = page.substr(page.find(kBegin) + kBegin.size());
  page = page.substr(0, page.find("```"));
  std::vector<std::string> statements;
  while (!page.empty()) {
    const size_t end = page.find(";\n");
    statements.emplace_back(page.substr(0, end));
    page = page.substr(end + 2);
  }
  return statements;
}

BoundParameter ValueOf(const std::string& shown) {
  if (shown == "null" || shown == "unset") return {std::nullopt, shown == "unset"};
  std::string bytes;
  for (size_t i = 2; i < shown.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(shown.substr(i, 2), nullptr, 16));
  }
  return {bytes, false};
}

// "`statement` with `value`, `value`".
WrongStatement StatementOf(const std::string& cell) {
  WrongStatement statement;
  statement.cell = cell;
  const size_t end = cell.find('`', 1);
  statement.text = cell.substr(1, end - 1);
  for (size_t at = cell.find('`', end + 1); at != std::string::npos;) {
    const size_t close = cell.find('`', at + 1);
    statement.values.push_back(ValueOf(cell.substr(at + 1, close - at - 1)));
    at = cell.find('`', close + 1);
  }
  return statement;
}

// "| statement | code | error |".
std::vector<WrongStatement> RowsOf(const std::string& page) {
  constexpr std::string_view kBetween = " | ";
  std::vector<WrongStatement> rows;
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("| `")) continue;
    const size_t code = line.find(kBetween);
    const size_t error = line.find(kBetween, code + kBetween.size());
    rows.push_back(StatementOf(line.substr(2, code - 2)));
    rows.back().code = line.substr(code + kBetween.size(), error - code - kBetween.size());
    rows.back().error = line.substr(error + kBetween.size());
    rows.back().error.resize(rows.back().error.size() - 2);
  }
  return rows;
}

class ErrorTable : public CqlSessionTest {};

TEST_F(ErrorTable, EveryStatementIsRefusedAsThePageSays) {
  CqlServerOptions options;
  auto server = CqlServer::Start(options);
  ASSERT_TRUE(server.ok()) << server.status().message();
  server_ = *std::move(server);
  session_ = std::make_unique<CqlSession>(server_->cql_port());
  const std::string page = ReadPage();
  for (const std::string& statement : SchemaOf(page)) Must(statement);
  const std::vector<WrongStatement> rows = RowsOf(page);
  EXPECT_GE(rows.size(), kRowsMin);
  for (const WrongStatement& row : rows) {
    for (const bool prepared : {false, true}) {
      const CqlAnswer answer = session_->Run({row.text, row.values, prepared});
      char code[5];
      std::snprintf(code, sizeof(code), "%04x", static_cast<unsigned>(answer.code));
      EXPECT_TRUE(code == row.code && answer.error == row.error)
          << "found, " << (prepared ? "prepared" : "as text") << ":\n| " << row.cell << " | "
          << code << " | " << answer.error << " |";
    }
  }
}

}  // namespace error_table_test
}  // namespace liststore::testing
