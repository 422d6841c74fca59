// What a directory says of the dialect in which its schema was made, and what comes of it.
#include "engine/keeping/recovery.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/status_macros.h"
#include "engine/keeping/keeper.h"
#include "engine/roles/role_store.h"
#include "tests/support/temp_folder.h"

namespace liststore::testing {
namespace keeping_recovery_test {

using keeping::Recovered;

class KeepingRecovery : public ::testing::Test {
 protected:
  static SchemaChangeRecord Keyspace(const std::string& name, std::string_view dialect) {
    SchemaChangeRecord record;
    record.statement = "CREATE KEYSPACE " + name +
                       " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}";
    record.keyspace = name;
    record.dialect = dialect;
    return record;
  }
  absl::StatusOr<Recovered> Recover(std::optional<cql::Dialect> dialect) {
    LS_ASSIGN_OR_RETURN(const durable::DataDirectory directory,
                        durable::DataDirectory::Open(folder_ / "data"));
    shard::Engine engine({.shards = 1, .memory_limit_bytes = 64 << 20});
    keeping::RecoveryOptions options;
    options.dialect = dialect;
    return keeping::Recover(directory, engine, options);
  }
  // A run that writes these down, as far as the directory may be opened.
  void Write(std::optional<cql::Dialect> dialect, const std::vector<SchemaChangeRecord>& records,
             bool takes_snapshot = false) {
    shard::Engine engine({.shards = 1, .memory_limit_bytes = 64 << 20});
    auto directory = durable::DataDirectory::Open(folder_ / "data");
    ASSERT_TRUE(directory.ok()) << directory.status();
    keeping::RecoveryOptions options;
    options.dialect = dialect;
    auto recovered = keeping::Recover(*directory, engine, options);
    ASSERT_TRUE(recovered.ok()) << recovered.status();
    durable::DataRunOptions run;
    run.log = commitlog::LogMode::kOs;
    run.segment_bytes = 2 << 20;
    keeping::Keeper keeper(*std::move(directory), *std::move(recovered), run);
    roles::RoleStore roles;
    ASSERT_TRUE(keeper.Begin(engine, roles, [] { return durable::ClockState(); }).ok());
    for (const SchemaChangeRecord& record : records) {
      ASSERT_TRUE(keeper.Reserve(1024).ok());
      keeper.Note(record, 1024);
    }
    if (takes_snapshot) {
      ASSERT_TRUE(keeper.TakeSnapshot().ok());
    }
    ASSERT_TRUE(keeper.Close().ok());
  }
  std::string Refusal(std::optional<cql::Dialect> dialect) {
    const auto recovered = Recover(dialect);
    if (recovered.ok()) return "";
    EXPECT_EQ(recovered.status().code(), absl::StatusCode::kFailedPrecondition);
    return std::string(recovered.status().message());
  }

  const TempFolder folder_;
  const cql::Dialect scylla_ = cql::ScyllaDialect();
  const cql::Dialect cassandra_ = cql::CassandraDialect(4, 1);
};

TEST_F(KeepingRecovery, TheDialectOfTheSchemaIsTakenOver) {
  Write(std::nullopt, {});
  EXPECT_EQ(Refusal(cassandra_), "") << "without a schema it is of none";
  for (const bool in_snapshot : {false, true}) {
    Write(cassandra_, {Keyspace(in_snapshot ? "b" : "a", cassandra_.name)}, in_snapshot);
    const auto recovered = Recover(std::nullopt);
    ASSERT_TRUE(recovered.ok()) << recovered.status();
    EXPECT_EQ(recovered->dialect.name, "cassandra:4.1");
    EXPECT_TRUE(recovered->dialect.is_cassandra);
    EXPECT_EQ(Refusal(cassandra_), "");
    const std::string refusal = Refusal(scylla_);
    EXPECT_NE(refusal.find("made like cassandra:4.1, and is to be like scylla:2025.1"),
              std::string::npos)
        << refusal;
    EXPECT_NE(refusal.find("start with --like cassandra:4.1, or without"), std::string::npos);
    EXPECT_NE(Refusal(cql::CassandraDialect(5, 0)), "");
  }
}

TEST_F(KeepingRecovery, ADirectoryThatDoesNotSayOpensAsItDid) {
  Write(cassandra_, {Keyspace("a", "")});
  EXPECT_EQ(Refusal(std::nullopt), "");
  EXPECT_EQ(Refusal(cassandra_), "");
  EXPECT_EQ(Refusal(scylla_), "");
  // What comes now says it: what was before is of whom it was opened like.
  Write(cassandra_, {Keyspace("b", cassandra_.name)});
  EXPECT_NE(Refusal(scylla_), "");
  EXPECT_NE(Refusal(std::nullopt).find("does not say like what: start with --like cassandra:4.1"),
            std::string::npos);
  // From the next snapshot on all of it does.
  Write(cassandra_, {}, /*takes_snapshot=*/true);
  EXPECT_EQ(Refusal(std::nullopt), "");
}

TEST_F(KeepingRecovery, ADialectOfALaterVersionIsRefusedByName) {
  Write(std::nullopt, {Keyspace("a", "scylla:2031.1")});
  for (const auto& dialect : {std::optional<cql::Dialect>(), std::optional(scylla_)}) {
    EXPECT_NE(Refusal(dialect).find("'scylla:2031.1', which this version does not know"),
              std::string::npos);
  }
}

}  // namespace keeping_recovery_test
}  // namespace liststore::testing
