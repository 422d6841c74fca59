#include "tests/tools/copy/copy_server.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <utility>

namespace liststore::testing {
namespace {

std::vector<std::string> Arguments(const std::vector<std::string>& options) {
  std::vector<std::string> all = {"serve", "--cql-port", "0", "--until-eof"};
  all.insert(all.end(), options.begin(), options.end());
  return all;
}

}  // namespace

CopyServer::CopyServer(const std::vector<std::string>& options, const CqlCredentials& credentials)
    : program_(Arguments(options)) {
  const boost::json::object ready = boost::json::parse(program_.ReadLine()).as_object();
  address_ = "127.0.0.1:" + std::to_string(ready.at("cql_port").to_number<int>());
  auto client = CqlClient::Connect(address_, credentials);
  EXPECT_TRUE(client.ok()) << client.status();
  if (client.ok()) client_ = *std::move(client);
}

CqlRows CopyServer::Run(const std::string& statement) {
  auto rows = client_->Query(statement);
  EXPECT_TRUE(rows.ok()) << rows.status();
  return rows.ok() ? *std::move(rows) : CqlRows();
}

std::vector<std::string> CopyServer::Answer(const std::string& statement) {
  const CqlRows rows = Run(statement);
  std::vector<std::string> lines;
  for (size_t row = 0; row < rows.size(); ++row) {
    std::string& line = lines.emplace_back();
    for (size_t column = 0; column < rows.columns(); ++column) {
      line += rows.is_null(row, column) ? "null|" : std::string(rows.at(row, column)) + "|";
    }
  }
  return lines;
}

int64_t CopyServer::Number(const std::string& statement) {
  const CqlRows rows = Run(statement);
  EXPECT_EQ(rows.size(), 1u) << statement;
  return rows.size() == 1 ? rows.Integer(0, 0) : -1;
}

void CopyServer::Advance(int seconds) {
  Run("UPDATE liststore.clock SET advance = " + std::to_string(seconds) + "s WHERE key = 'clock'");
}

ProgramResult Export(const CopyServer& from, const CopyServer& to, std::vector<std::string> more) {
  more.insert(more.begin(), {"export", "--via", from.address(), "--to", to.address()});
  return RunProgram(more);
}

bool Has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

void MakeKeyspace(CopyServer& server) {
  server.Run(
      "CREATE KEYSPACE feat WITH replication = {'class': 'NetworkTopologyStrategy', "
      "'datacenter1': 1}");
}

}  // namespace liststore::testing
