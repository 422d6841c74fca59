// An honest no: every feature that liststore does not have is refused by name or said to have no
// effect, and counted; nothing else is.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/big_endian.h"
#include "engine/cql/syntax/unsupported.h"
#include "liststore/cql_server.h"
#include "tests/conformance/cql_session.h"
#include "tests/support/raw_cql_client.h"

namespace liststore::testing {
namespace unsupported_test {

constexpr uint8_t kQuery = 0x07;
constexpr uint8_t kTracingFlag = 0x02;
constexpr uint16_t kOne = 0x01;
constexpr uint16_t kQuorum = 0x04;
constexpr int32_t kInvalid = 0x2200;

struct Case {
  cql::CqlFeature feature;
  std::string statement;
  uint8_t flags = 0;
  uint16_t consistency = kOne;
};

const Case kCases[] = {
    {cql::CqlFeature::kViewFunctions,
     "CREATE MATERIALIZED VIEW w AS SELECT * FROM t WHERE c IS NOT NULL AND token(p) > "
     "toUnixTimestamp(now()) PRIMARY KEY (c, p)"},
    {cql::CqlFeature::kUserFunctions,
     "CREATE OR REPLACE FUNCTION f (a int) RETURNS NULL ON NULL INPUT RETURNS int LANGUAGE lua AS "
     "'return a'"},
    {cql::CqlFeature::kUserFunctions, "CREATE AGGREGATE a (int) SFUNC f STYPE int"},
    {cql::CqlFeature::kTriggers, "CREATE TRIGGER x ON t USING 'y'"},
    {cql::CqlFeature::kServiceLevels, "CREATE SERVICE LEVEL s WITH shares = 1"},
    {cql::CqlFeature::kServiceLevels, "ATTACH SERVICE_LEVEL s TO r"},
    {cql::CqlFeature::kServiceLevels, "LIST ALL SERVICE LEVELS"},
    {cql::CqlFeature::kVectors, "CREATE TABLE x (p int PRIMARY KEY, v vector<float, 3>)"},
    {cql::CqlFeature::kVectors, "SELECT * FROM t ORDER BY v ann OF [0.1, 0.2] LIMIT 3"},
    {cql::CqlFeature::kVectors, "CREATE CUSTOM INDEX ON t(v) USING 'vector_index'"},
    {cql::CqlFeature::kVectors, "SELECT similarity_cosine(v, v) FROM t"},
    {cql::CqlFeature::kFunctions,
     "SELECT * FROM t WHERE intAsBlob(v) = 0x00000001 ALLOW FILTERING"},
    {cql::CqlFeature::kTtlPerRow, "ALTER TABLE t TTL v"},
    {cql::CqlFeature::kCdc, "ALTER TABLE t WITH cdc = {'enabled': true}"},
    {cql::CqlFeature::kRateLimits,
     "ALTER TABLE t WITH per_partition_rate_limit = {'max_writes_per_second': 5}"},
    {cql::CqlFeature::kEncryption,
     "ALTER TABLE t WITH scylla_encryption_options = {'key_provider': 'x'}"},
    {cql::CqlFeature::kKeyspaceStorage,
     "ALTER KEYSPACE ks WITH storage = {'type': 'S3', 'bucket': 'b', 'endpoint': 'e'}"},
    {cql::CqlFeature::kMutationFragments, "SELECT * FROM MUTATION_FRAGMENTS(t) WHERE p = 1"},
    {cql::CqlFeature::kVirtualWrites, "DELETE advance FROM liststore.clock WHERE key = 'clock'"},
    {cql::CqlFeature::kVirtualWrites,
     "BEGIN BATCH INSERT INTO liststore.clock (key, advance_seconds) VALUES ('clock', 1) APPLY "
     "BATCH"},
    {cql::CqlFeature::kVirtualWrites,
     "UPDATE system.local SET tokens = tokens + {'1'} WHERE key = 'local'"},
    {cql::CqlFeature::kVirtualWrites, "DELETE tokens['0'] FROM system.local WHERE key = 'local'"},
    {cql::CqlFeature::kDurationKeys,
     "CREATE TABLE x (p int PRIMARY KEY, s set<frozen<tuple<duration>>>)"},

    {cql::CqlFeature::kOtherDatacenters,
     "CREATE KEYSPACE elsewhere WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': "
     "1}"},
    {cql::CqlFeature::kShellDescribe, "select * from system.local where key = 'local'"},
    {cql::CqlFeature::kReplication,
     "CREATE KEYSPACE three WITH replication = {'class': 'SimpleStrategy', 'replication_factor': "
     "3}"},
    {cql::CqlFeature::kDurableWrites, "ALTER KEYSPACE ks WITH durable_writes = true"},
    {cql::CqlFeature::kTablets,
     "CREATE KEYSPACE of_tablets WITH replication = {'class': 'NetworkTopologyStrategy', "
     "'replication_factor': 1} AND tablets = {'initial': 4}"},
    {cql::CqlFeature::kKeyspaceConsistency, "ALTER KEYSPACE ks WITH consistency = 'global'"},
    {cql::CqlFeature::kCompaction,
     "ALTER TABLE t WITH compaction = {'class': 'LeveledCompactionStrategy'}"},
    {cql::CqlFeature::kCompression, "CREATE TABLE x (p int PRIMARY KEY) WITH compression = {}"},
    {cql::CqlFeature::kCaching, "ALTER TABLE t WITH caching = {'keys': 'NONE'}"},
    {cql::CqlFeature::kSpeculativeRetry, "ALTER TABLE t WITH speculative_retry = 'ALWAYS'"},
    {cql::CqlFeature::kBloomFilters, "ALTER TABLE t WITH bloom_filter_fp_chance = 0.1"},
    {cql::CqlFeature::kChecksums, "ALTER TABLE t WITH crc_check_chance = 0.5"},
    {cql::CqlFeature::kIndexIntervals, "ALTER TABLE t WITH min_index_interval = 64"},
    {cql::CqlFeature::kMemtableFlush, "ALTER TABLE t WITH memtable_flush_period_in_ms = 60000"},
    {cql::CqlFeature::kTombstoneGc, "ALTER TABLE t WITH tombstone_gc = {'mode': 'immediate'}"},
    {cql::CqlFeature::kPaxosGrace, "ALTER TABLE t WITH paxos_grace_seconds = 60"},
    {cql::CqlFeature::kInMemory, "ALTER TABLE t WITH in_memory = true"},
    {cql::CqlFeature::kBypassCache, "SELECT * FROM t BYPASS CACHE"},
    {cql::CqlFeature::kTimeouts, "TRUNCATE t USING TIMEOUT 5s"},
    {cql::CqlFeature::kTracing, "SELECT * FROM t", kTracingFlag},
    {cql::CqlFeature::kConsistencyLevels, "SELECT * FROM t", 0, kQuorum},
};

// Errors that ScyllaDB gives as well, and statements that are carried out.
constexpr std::string_view kNotCounted[] = {
    "SELECT * FROM system.local WHERE key = 'local'",
    "SELECT * FROM system.local WHERE tokens CONTAINS '0' ALLOW FILTERING",
    "SELECT * FROM system.local WHERE truncated_at CONTAINS KEY "
    "5a1c395e-b41f-11e5-9f22-ba0be0483c18 ALLOW FILTERING",
    "ALTER TABLE t ADD m frozen<map<text, int>>",
    "CREATE TYPE IF NOT EXISTS address (street text)",
    "DROP TYPE address",
    "CREATE TABLE x (p int PRIMARY KEY, l tuple<int, text>)",
    "SELECT * FROM t WHERE p = 1",
    "SELECT * FROM system.local USING TIMEOUT 2s",
    "CREATE TABLE y (p int PRIMARY KEY) WITH gc_grace_seconds = 60 AND comment = 'x'",
    "CREATE MATERIALIZED t",
    "CREATE ROEL r",
    "SELEC JSON * FROM t",
    "SELECT * FROM t GRUOP BY p",
    "SELECT cuont(v) FROM t",
    "SELECT p, sum(v), avg(v) FROM t GROUP BY p",
    "SELECT DISTINCT p, token(p), CAST(p AS text), (int) 1 FROM t",
    "SELECT 1, p FROM t",
    "SELECT JSON * FROM t",
    "SELECT toJson(v) FROM t",
    "SELECT ks.toJson(v) FROM t",
    "INSERT INTO t JSON '{\"p\": 1, \"c\": 2}'",
    "INSERT INTO t JSON '{}'",
    "SELECT toUnixTimestamp(v) FROM t",
    "INSERT INTO t (p, c, v) VALUES (1, 2, 3 + 4)",
    "SELECT ks.now() FROM t",
    "INSERT INTO t (p, c, v) VALUES (1, 2, nwo())",
    "INSERT INTO t (p, c, v) VALUES (1, 2, now())",
    "SELECT v.x FROM t",
    "SELECT v['a'] FROM t",
    "SELECT TTL(v[1]) FROM t",
    "SELECT tokens['0'] FROM system.local",
    "SELECT truncated_at[5a1c395e-b41f-11e5-9f22-ba0be0483c18] FROM system.local",
    "SELECT * FROM system.local WHERE truncated_at[5a1c395e-b41f-11e5-9f22-ba0be0483c18] = 0x00 "
    "ALLOW FILTERING",
    "SELECT TTL(m) FROM with_parts",
    "CREATE INDEX ON with_parts(u)",
    "CREATE TABLE a (p int PRIMARY KEY, l list<int>, u kept)",
    "ALTER TABLE a ADD m map<text, int>",
    "SELECT * FROM t WHERE m['a'] = 1",
    "SELECT * FROM t WHERE v['a'] = 1",
    "SELECT * FROM t WHERE v CONTAINS 1 ALLOW FILTERING",
    "SELECT * FROM t WHERE v CONTAINS KEY 1 ALLOW FILTERING",
    "SELECT * FROM t WHERE v LIKE 'a' ALLOW FILTERING",
    "DELETE v[1] FROM t WHERE p = 1 AND c = 2",
    "DELETE v.x FROM t WHERE p = 1 AND c = 2",
    "UPDATE t SET v = v + 1 WHERE p = 1 AND c = 2",
    "CREATE CUSTOM INDEX ON t(v) USING 'org.apache.cassandra.index.sasi.SASIIndex'",
    "CREATE INDEX ON t(v) WITH gc_grace_seconds = 10",
    "CREATE TABLE z (p int PRIMARY KEY, a address)",
    "CREATE TABLE z (p int PRIMARY KEY) WITH compaction = {'class': 'Foo'}",
    "SELECT * FROM nothing GROUP BY p",
    "INSERT INTO nothing JSON '{}'",
    "UPDATE nothing SET v = 1 WHERE p = 1 IF EXISTS",
    "SELECT * FROM t WHERE v = 1",
    "INSERT INTO system.local (key) VALUES ('x')",
};

class Unsupported : public ::testing::Test {
 protected:
  void SetUp() override {
    CqlServerOptions options;
    options.memory_limit_bytes = 64 << 20;
    options.on_notice = [this](const CqlNotice& notice) {
      const std::lock_guard lock(mutex_);
      notices_.emplace_back(std::string(notice.code) + " " + std::string(notice.first_statement));
    };
    auto server = CqlServer::Start(options);
    ASSERT_TRUE(server.ok()) << server.status().message();
    server_ = *std::move(server);
    client_ = std::make_unique<RawCqlClient>(server_->cql_port());
    ASSERT_TRUE(client_->StartUp());
    session_ = std::make_unique<CqlSession>(server_->cql_port());
    for (const char* statement :
         {"CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', "
          "'replication_factor': 1}",
          "USE ks", "CREATE TYPE kept (a int)",
          "CREATE TABLE t (p int, c int, v int, s text, PRIMARY KEY (p, c))",
          "CREATE TABLE with_static (p int, c int, s int static, PRIMARY KEY (p, c))",
          "CREATE TABLE with_parts (p int PRIMARY KEY, m map<int, int>, u kept)"}) {
      EXPECT_EQ(Refusal({{}, statement}), "") << statement;
    }
    EXPECT_EQ(session_->Run({"USE ks", {}}).error, "");
  }

  // The error, "" for none.
  std::string Refusal(const Case& asked) {
    std::string body = QueryBody(asked.statement);
    StoreBigEndian16(body.data() + 4 + asked.statement.size(), asked.consistency);
    const auto frame =
        client_->Ask({.flags = asked.flags, .stream = 1, .opcode = kQuery, .body = body});
    EXPECT_TRUE(frame) << asked.statement;
    if (!frame || frame->opcode != 0) return "";
    if (ErrorMessageOf(*frame).starts_with("liststore does not support")) {
      EXPECT_EQ(ErrorCodeOf(*frame), kInvalid) << asked.statement;
    }
    return ErrorMessageOf(*frame);
  }
  // "refused LS-0001" -> how often.
  std::map<std::string, uint64_t> Counts() {
    std::map<std::string, uint64_t> counts;
    const CqlAnswer answer =
        session_->Run({"SELECT kind, code, count FROM liststore.unsupported", {}});
    EXPECT_EQ(answer.error, "");
    for (const ResultRow& row : answer.rows) {
      counts[*row.at(0) + " " + *row.at(1)] = LoadBigEndian64(row.at(2)->data());
    }
    return counts;
  }
  static std::string Name(cql::CqlFeature feature) {
    const cql::CqlFeatureFacts& facts = cql::FactsOf(feature);
    return (facts.refused ? "refused " : "no effect ") + std::string(facts.code);
  }

  std::mutex mutex_;
  std::vector<std::string> notices_;
  std::unique_ptr<CqlServer> server_;
  std::unique_ptr<RawCqlClient> client_;
  std::unique_ptr<CqlSession> session_;
};

TEST_F(Unsupported, EveryFeatureIsAnsweredByNameAndCounted) {
  std::map<std::string, uint64_t> expected;
  EXPECT_EQ(Counts(), expected) << "nothing was asked for yet";
  for (const Case& asked : kCases) {
    SCOPED_TRACE(asked.statement);
    const cql::CqlFeatureFacts& facts = cql::FactsOf(asked.feature);
    const std::string refusal = Refusal(asked);
    if (facts.refused) {
      EXPECT_TRUE(refusal.starts_with("liststore does not support " + std::string(facts.name)))
          << refusal;
      EXPECT_TRUE(refusal.ends_with("; instead: " + std::string(facts.instead) + " [" +
                                    std::string(facts.code) + "]"))
          << refusal;
    } else {
      EXPECT_EQ(refusal, "");
    }
    ++expected[Name(asked.feature)];
    EXPECT_EQ(Counts(), expected);
  }
  // Of another face, which tests them itself.
  constexpr size_t kOfDynamodb = 4;
  size_t of_dynamodb = 0;
  for (size_t i = 0; i < cql::kCqlFeatures; ++i) {
    const std::string_view code = cql::FactsOf(cql::CqlFeatureAt(i)).code;
    if (code >= "LS-0046" && code <= "LS-0049") {
      ++of_dynamodb;
      continue;
    }
    EXPECT_TRUE(expected.contains(Name(cql::CqlFeatureAt(i))))
        << code << " has no statement in this test";
  }
  EXPECT_EQ(of_dynamodb, kOfDynamodb);
  const std::lock_guard lock(mutex_);
  EXPECT_EQ(notices_.size(), cql::kCqlFeatures - kOfDynamodb) << "each is said once";
}

TEST_F(Unsupported, NothingElseIsCounted) {
  for (const std::string_view statement : kNotCounted) {
    const std::string refusal = Refusal({{}, std::string(statement)});
    EXPECT_EQ(refusal.find("LS-"), std::string::npos) << statement << ": " << refusal;
    EXPECT_EQ(refusal.find("liststore"), std::string::npos) << statement << ": " << refusal;
    EXPECT_TRUE(Counts().empty()) << statement;
  }
  EXPECT_EQ(server_->refusal_count(), 0u);
  EXPECT_TRUE(server_->Refusals().empty());
}

TEST_F(Unsupported, ScyllaDbsOwnErrorsHaveItsWords) {
  const std::pair<const char*, const char*> examples[] = {
      {"SELECT cuont(v) FROM t", "Unknown function cuont called"},
      {"SELECT v['a'] FROM t", "Column v is not a map/list, cannot be subscripted"},
      {"SELECT TTL(v[1]) FROM t", "Column v is not a map/list, cannot be subscripted"},
      {"SELECT * FROM t WHERE v['a'] = 1", "Column v is not a map/list, cannot be subscripted"},
      {"SELECT * FROM t WHERE m['a'] = 1", "Unrecognized name m"},
      {"SELECT v.x FROM t", "Invalid field selection: v of type int is not a user type"},
      {"SELECT * FROM t WHERE v CONTAINS 1 ALLOW FILTERING",
       "Cannot use CONTAINS on non-collection column \"v\""},
      {"SELECT * FROM t WHERE v CONTAINS KEY 1 ALLOW FILTERING",
       "Cannot use CONTAINS KEY on non-map column v"},
      {"SELECT * FROM t WHERE v LIKE 'a' ALLOW FILTERING",
       "LIKE is allowed only on string types, which v is not"},
      {"DELETE v[1] FROM t WHERE p = 1 AND c = 2",
       "Invalid deletion operation for non collection column v"},
      {"DELETE v.x FROM t WHERE p = 1 AND c = 2",
       "Invalid deletion operation for non-UDT column v"},
      {"CREATE MATERIALIZED t", "line 1:7 no viable alternative at input 'MATERIALIZED'"},
  };
  for (const auto& [statement, message] : examples) {
    EXPECT_EQ(Refusal({{}, statement}), message) << statement;
  }
}

TEST_F(Unsupported, PreparingCountsAndExecutingDoesNot) {
  const CqlStatement refused{"SELECT similarity_cosine(v, v) FROM t", {}, true};
  EXPECT_NE(session_->Run(refused).error, "");
  const CqlStatement accepted{"SELECT * FROM t BYPASS CACHE", {}, true};
  EXPECT_EQ(session_->Run(accepted).error, "");
  EXPECT_EQ(Counts(),
            (std::map<std::string, uint64_t>{{"refused LS-0011", 1}, {"no effect LS-0116", 1}}));
  // A table that cannot be made is refused when it is to be made.
  const CqlStatement table{
      "CREATE TABLE x (p int PRIMARY KEY) WITH cdc = {'enabled': true}", {}, true};
  EXPECT_NE(session_->Run(table).error, "");
  EXPECT_EQ(Counts().at("refused LS-0032"), 1u);
}

TEST_F(Unsupported, EmbeddersSeeWhatWasRefused) {
  Refusal({{}, "CREATE TRIGGER x ON t USING 'y'"});
  Refusal({{}, "CREATE TRIGGER z ON t USING 'y'"});
  Refusal({{}, "SELECT * FROM t BYPASS CACHE"});
  Refusal({{}, "SELECT similarity_cosine(v, v)\nFROM t"});
  EXPECT_EQ(server_->refusal_count(), 3u);
  server_->Stop();
  const std::vector<CqlRefusal> refusals = server_->Refusals();
  ASSERT_EQ(refusals.size(), 2u);
  EXPECT_EQ(refusals[0].code, "LS-0004");
  EXPECT_EQ(refusals[0].feature, "triggers");
  EXPECT_EQ(refusals[0].first_statement, "CREATE TRIGGER x ON t USING 'y'");
  EXPECT_EQ(refusals[0].count, 2u);
  EXPECT_EQ(refusals[1].code, "LS-0011");
  EXPECT_EQ(refusals[1].count, 1u);
  const std::lock_guard lock(mutex_);
  EXPECT_EQ(notices_, (std::vector<std::string>{"LS-0004 CREATE TRIGGER x ON t USING 'y'",
                                                "LS-0116 SELECT * FROM t BYPASS CACHE",
                                                "LS-0011 SELECT similarity_cosine(v, v)\nFROM t"}));
}

TEST_F(Unsupported, BatchMessagesAreCountedToo) {
  EXPECT_NE(session_->RunBatch(true, {{"DELETE FROM t WHERE intAsBlob(p) = 0x01", {}}}, {}).error,
            "");
  EXPECT_NE(session_
                ->RunBatch(true,
                           {{"UPDATE liststore.clock SET advance_seconds = 1 WHERE key = 'clock'",
                             {},
                             /*prepared=*/true}},
                           {})
                .error,
            "");
  EXPECT_EQ(Counts(),
            (std::map<std::string, uint64_t>{{"refused LS-0017", 1}, {"refused LS-0037", 1}}));
  // Of what has no effect nothing is counted before the batch is answered: it may be refused, or put
  // off and begun again.
  EXPECT_NE(session_->RunBatch(true, {{"SELECT * FROM t BYPASS CACHE", {}}}, {}).error, "");
  EXPECT_FALSE(Counts().contains("no effect LS-0116"));
}

// Statements of the hot shape are not looked at one by one: a trace is, whenever it is asked for,
// and the first of the levels.
TEST_F(Unsupported, OfExecuteTracesAndTheFirstLevelCount) {
  const auto prepared =
      client_->Ask({.stream = 1, .opcode = 0x09, .body = BytesBody("SELECT v FROM t WHERE p = 1")});
  ASSERT_TRUE(prepared);
  ASSERT_EQ(prepared->opcode, 0x08);
  // The id, behind the kind of the result: a [short bytes].
  const size_t id_bytes = 2 + LoadBigEndian16(prepared->body.data() + 4);
  const auto execute = [&](char consistency, uint8_t flags) {
    const std::string body =
        prepared->body.substr(4, id_bytes) + std::string{'\0', consistency, '\0'};
    const auto answer = client_->Ask({.flags = flags, .stream = 1, .opcode = 0x0a, .body = body});
    EXPECT_TRUE(answer && answer->opcode == 0x08);
  };
  execute(kOne, 0);
  EXPECT_TRUE(Counts().empty());
  for (int i = 0; i < 3; ++i) execute(kQuorum, 0);
  for (int i = 0; i < 2; ++i) execute(kQuorum, kTracingFlag);
  EXPECT_EQ(Counts(),
            (std::map<std::string, uint64_t>{{"no effect LS-0118", 2}, {"no effect LS-0119", 1}}));
}

TEST_F(Unsupported, TheTableIsOneLikeAnyOther) {
  Refusal({{}, "CREATE TRIGGER x ON t USING 'y'"});
  Refusal({{}, "SELECT * FROM t BYPASS CACHE"});
  const CqlAnswer answer = session_->Run(
      {"SELECT feature, first_statement, instead FROM liststore.unsupported WHERE kind = "
       "'refused' AND code = 'LS-0004'",
       {}});
  EXPECT_EQ(answer.error, "");
  ASSERT_EQ(answer.rows.size(), 1u);
  EXPECT_EQ(answer.rows[0][0], "triggers");
  EXPECT_EQ(answer.rows[0][1], "CREATE TRIGGER x ON t USING 'y'");
  EXPECT_EQ(answer.rows[0][2], "a batch that makes the further writes as well");
  EXPECT_EQ(session_
                ->Run({"UPDATE liststore.unsupported SET count = 0 WHERE kind = 'refused' AND "
                       "code = 'LS-0004'",
                       {}})
                .error,
            "this virtual table doesn't allow updates");
}

}  // namespace unsupported_test
}  // namespace liststore::testing
