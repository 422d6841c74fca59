// What drivers see of a node: system tables and OPTIONS, over the wire.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "liststore/cql_server.h"
#include "tests/conformance/cql_session.h"
#include "tests/support/raw_cql_client.h"

namespace liststore::testing {
namespace node_look_test {

CqlServerOptions Small() {
  CqlServerOptions options;
  options.memory_limit_bytes = 64 << 20;
  return options;
}

// A server with these options, asked by one client.
class Node {
 public:
  explicit Node(const CqlServerOptions& options)
      : server_(*CqlServer::Start(options)), session_(server_->cql_port()) {}

  std::string Local(const std::string& column) {
    return session_.Run({"SELECT " + column + " FROM system.local", {}})
        .rows.at(0)
        .at(0)
        .value_or("null");
  }
  CqlAnswer Run(const std::string& text) { return session_.Run({text, {}}); }
  bool HasTable(const std::string& name) {
    const CqlAnswer answer = Run("SELECT COUNT(*) FROM " + name);
    EXPECT_TRUE(answer.error.empty() || answer.error.starts_with("unconfigured table") ||
                answer.error.find("does not exist") != std::string::npos)
        << answer.error;
    return answer.error.empty();
  }
  // Bytes of SUPPORTED.
  std::string Supported() {
    const auto frame = RawCqlClient(server_->cql_port()).Ask({.opcode = 0x05});
    return frame ? frame->body : "";
  }

 private:
  std::unique_ptr<CqlServer> server_;
  CqlSession session_;
};

// A [string] of the wire.
std::string Text(const std::string& text) {
  return {std::string(1, '\0') + static_cast<char>(text.size()) + text};
}

TEST(NodeLookTest, NamesAreThoseOfTheOptions) {
  CqlServerOptions options = Small();
  options.data_center = "eu-west";
  options.rack = "räck 7";
  options.cluster_name = "tests of 'mine'";
  Node node(options);
  EXPECT_EQ(node.Local("data_center"), "eu-west");
  EXPECT_EQ(node.Local("rack"), "räck 7");
  EXPECT_EQ(node.Local("cluster_name"), "tests of 'mine'");
  EXPECT_EQ(node.Run("SELECT rack FROM system.peers").rows.size(), 0u);
  Node other(Small());
  EXPECT_EQ(other.Local("data_center"), "datacenter1");
  EXPECT_EQ(other.Local("rack"), "rack1");
  EXPECT_EQ(other.Local("cluster_name"), "liststore");
}

TEST(NodeLookTest, KeyspacesAreInDataCentersThatThereAreWhereThatIsSaid) {
  const std::string create =
      "CREATE KEYSPACE k WITH replication = {'class': 'NetworkTopologyStrategy', 'dc9': 3}";
  CqlServerOptions options = Small();
  options.data_center = "dc1";
  options.other_data_centers = {"dc2"};
  options.refuses_unknown_data_centers = true;
  Node node(options);
  EXPECT_EQ(node.Local("data_center"), "dc1");
  EXPECT_EQ(node.Run(create).error,
            "Unrecognized strategy option {dc9} passed to "
            "org.apache.cassandra.locator.NetworkTopologyStrategy for keyspace k");
  EXPECT_EQ(node.Run("CREATE KEYSPACE k WITH replication = {'class': 'NetworkTopologyStrategy', "
                     "'replication_factor': 2}")
                .error,
            "");
  EXPECT_NE(node.Run("DESCRIBE KEYSPACE k").rows.at(0).at(3)->find("'dc1': '2', 'dc2': '2'"),
            std::string::npos);
  Node other(Small());
  EXPECT_EQ(other.Run(create).error, "");
}

struct VersionCase {
  const char* asked;
  bool scylla;
  const char* release_version;
  const char* cql_version;
  const char* scylla_version;  // nullptr: it is no ScyllaDB
  bool has_virtual_schema;
};

const VersionCase kVersions[] = {
    {"", true, "3.0.8", "3.3.1", "2025.1.0", false},
    {"scylla-2025.1", true, "3.0.8", "3.3.1", "2025.1", false},
    {"scylla-5.4.6-0.20240418", true, "3.0.8", "3.3.1", "5.4.6-0.20240418", false},
    {"4.1", true, "4.1", "3.3.1", "2025.1.0", false},
    {"", false, "3.0.8", "3.3.1", nullptr, true},
    {"3.0.30", false, "3.0.30", "3.4.0", nullptr, false},
    {"3.11.17", false, "3.11.17", "3.4.4", nullptr, false},
    {"4.0.12", false, "4.0.12", "3.4.5", nullptr, true},
    {"4.1", false, "4.1", "3.4.6", nullptr, true},
    {"5.0-rc1", false, "5.0-rc1", "3.4.7", nullptr, true},
};

TEST(NodeLookTest, TheVersionIsThatOfTheOptions) {
  for (const VersionCase& version : kVersions) {
    SCOPED_TRACE(std::string(version.asked) + (version.scylla ? " of ScyllaDB" : " of Cassandra"));
    CqlServerOptions options = Small();
    options.release_version = version.asked;
    options.looks_like_scylla = version.scylla;
    Node node(options);
    EXPECT_EQ(node.Local("release_version"), version.release_version);
    EXPECT_EQ(node.Local("cql_version"), version.cql_version);
    const std::string supported = node.Supported();
    const bool sharded = supported.find("SCYLLA_NR_SHARDS") != std::string::npos;
    EXPECT_EQ(sharded, version.scylla);
    EXPECT_EQ(node.HasTable("system.versions"), version.scylla);
    EXPECT_EQ(node.HasTable("system.peers_v2"), version.has_virtual_schema);
    EXPECT_EQ(node.HasTable("system_virtual_schema.tables"), version.has_virtual_schema);
    if (version.scylla_version != nullptr) {
      EXPECT_EQ(node.Run("SELECT version FROM system.versions").rows.at(0).at(0),
                version.scylla_version);
    } else if (*version.asked != '\0') {
      EXPECT_NE(
          supported.find(Text("CQL_VERSION") + std::string("\0\1", 2) + Text(version.cql_version)),
          std::string::npos);
    }
  }
}

struct LikeCase {
  const char* like;
  std::optional<bool> scylla;  // as given
  const char* asked;           // of release_version
  bool looks_like_scylla;
  const char* release_version;
  const char* cql_version;
  bool is_cassandra;  // by what it answers
};

const LikeCase kLikes[] = {
    {"", std::nullopt, "", true, "3.0.8", "3.3.1", false},
    {"", false, "3.11.17", false, "3.11.17", "3.4.4", false},
    {"scylla:2025.1", std::nullopt, "", true, "3.0.8", "3.3.1", false},
    {"scylla:2025.1", false, "", false, "3.0.8", "3.3.1", false},
    {"cassandra:3.11", std::nullopt, "", false, "3.11.17", "3.4.4", true},
    {"cassandra:4.1", std::nullopt, "", false, "4.1.8", "3.4.6", true},
    {"cassandra:5.0", std::nullopt, "", false, "5.0.8", "3.4.7", true},
    {"cassandra:5.0", std::nullopt, "5.0.2", false, "5.0.2", "3.4.7", true},
    {"cassandra:5.0", true, "", true, "5.0.8", "3.3.1", true},
};

TEST(NodeLookTest, LikenessIsWhatTheOtherOptionsDoNotSay) {
  for (const LikeCase& one : kLikes) {
    SCOPED_TRACE(std::string(one.like) + " " + one.asked);
    CqlServerOptions options = Small();
    options.like = one.like;
    options.looks_like_scylla = one.scylla;
    options.release_version = one.asked;
    Node node(options);
    EXPECT_EQ(node.Local("release_version"), one.release_version);
    EXPECT_EQ(node.Local("cql_version"), one.cql_version);
    EXPECT_EQ(node.HasTable("system.versions"), one.looks_like_scylla);
    const std::string error =
        node.Run("SELECT table_name FROM system_schema.tables WHERE table_name > ''").error;
    EXPECT_EQ(!error.empty(), one.is_cassandra) << error;
  }
}

TEST(NodeLookTest, WhatIsNoNameOrVersionIsRefused) {
  const auto error = [](auto change) {
    CqlServerOptions options = Small();
    change(options);
    const absl::Status status = CqlServer::Start(options).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    return std::string(status.message());
  };
  using Options = CqlServerOptions;
  EXPECT_EQ(error([](Options& options) { options.like = "cassandra:6"; }),
            "like is 'cassandra:6', not scylla:2025.1, cassandra:3.11, cassandra:4.1 or "
            "cassandra:5.0");
  EXPECT_EQ(error([](Options& options) { options.data_center = ""; }),
            "data_center has 0 bytes, not 1 to 128");
  EXPECT_EQ(error([](Options& options) {
              options.other_data_centers = {"a", ""};
            }),
            "other_data_centers has 0 bytes, not 1 to 128");
  EXPECT_EQ(error([](Options& options) { options.rack = std::string(129, 'r'); }),
            "rack has 129 bytes, not 1 to 128");
  EXPECT_EQ(error([](Options& options) { options.cluster_name = "a\nb"; }),
            "cluster_name 'a\\nb' is not printable UTF-8");
  EXPECT_EQ(error([](Options& options) { options.rack = "\xff"; }),
            "rack '\\xff' is not printable UTF-8");
  for (const char* version : {"4", "4.", ".1", "v4.1", "4.x", "scylla-", "scylla-new", "4.1 beta",
                              "99999.1", "scylla-2025.1;"}) {
    EXPECT_EQ(error([&](Options& options) { options.release_version = version; }),
              "release_version is '" + std::string(version) +
                  "', not a version like 3.11.17, 4.1 or scylla-2025.1");
  }
  EXPECT_NE(error([](Options& options) {
              options.release_version = "4." + std::string(64, '1');
            }).find("not a version"),
            std::string::npos);
  const auto cassandra = [&](const char* version) {
    return error([&](Options& options) {
      options.looks_like_scylla = false;
      options.release_version = version;
    });
  };
  EXPECT_EQ(cassandra("scylla-2025.1"),
            "release_version is 'scylla-2025.1', but the server looks like Cassandra");
  EXPECT_EQ(cassandra("2025.1"),
            "release_version is '2025.1', not of Cassandra 3 to 5, like which the server can look "
            "(a ScyllaDB's is written scylla-2025.1)");
}

}  // namespace node_look_test
}  // namespace liststore::testing
