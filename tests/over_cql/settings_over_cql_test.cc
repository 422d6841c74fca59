// ScyllaDB's options over CQL: system.config, what each of them does, and warnings.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/over_cql/cql_session_test.h"
#include "tests/support/raw_cql_client.h"
#include "tests/support/vectors.h"

namespace liststore::testing {
namespace settings_over_cql_test {

constexpr int32_t kServerError = 0x0000, kTruncateError = 0x1003, kWriteTimeout = 0x1100,
                  kReadTimeout = 0x1200, kWriteFailure = 0x1500, kInvalid = 0x2200,
                  kConfigError = 0x2300;

constexpr char kFilteringText[] =
    "This query should use ALLOW FILTERING and will be rejected in future versions.";

class SettingsOverCql : public CqlSessionTest {
 protected:
  void Start(std::vector<ScyllaOption> options) {
    CqlServerOptions server;
    server.scylla_options = std::move(options);
    StartServer(server, "k");
    Must("CREATE TABLE k.t (p int, c int, v int, PRIMARY KEY (p, c))");
    Must("CREATE TABLE k.n (p int PRIMARY KEY, n counter)");
  }
  void Set(const std::string& name, const std::string& value) {
    Must("UPDATE system.config SET value = '" + value + "' WHERE name = '" + name + "'");
  }
  CqlAnswer Ask(const std::string& text) { return session_->Run({text, {}}); }
  CqlAnswer Execute(const std::string& text) { return session_->Run({text, {}, true}); }
  std::string Shown(const std::string& column, const std::string& name) {
    return Cell("SELECT " + column + " FROM system.config WHERE name = '" + name + "'");
  }
};

// Source: ScyllaDB db/virtual_tables.cc, db_config_table::execute.
TEST_F(SettingsOverCql, AreShownWithTheirSources) {
  Start({{"num_tokens", "16", true}, {"experimental_features", "[udf]"}});
  struct Row {
    const char* name;
    const char* type;
    const char* source;
    const char* value;
  };
  for (const Row& row : {
           Row{"num_tokens", "integer", "config", "16"},
           Row{"experimental_features", "experimental features", "cli", "[\"udf\"]"},
           Row{"strict_allow_filtering", "restriction mode", "default", "\"warn\""},
           Row{"replication_strategy_warn_list", "replication strategy list", "default",
               "[\"SimpleStrategy\"]"},
           Row{"compaction_enforce_min_threshold", "bool", "default", "false"},
           Row{"restrict_dtcs", "restriction mode", "default", "\"true\""},
           Row{"minimum_replication_factor_fail_threshold", "integer", "default", "-1"},
           Row{"enable_tablets", "bool", "default", "false"},
       }) {
    EXPECT_EQ(Shown("type", row.name), row.type) << row.name;
    EXPECT_EQ(Shown("source", row.name), row.source) << row.name;
    EXPECT_EQ(Shown("value", row.name), row.value) << row.name;
  }
  EXPECT_GT(Must("SELECT name FROM system.config").rows.size(), 290u);
}

// Source: ScyllaDB db/virtual_tables.cc, db_config_table::apply; service/storage_proxy.cc.
TEST_F(SettingsOverCql, AreChangedWhereScyllaDbLetsThem) {
  Start({});
  Set("twcs_max_window_count", "7");
  EXPECT_EQ(Shown("value", "twcs_max_window_count"), "7");
  EXPECT_EQ(Shown("source", "twcs_max_window_count"), "cql");
  struct Row {
    const char* statement;
    const char* error;
  };
  for (const Row& row : {
           Row{"UPDATE system.config SET value = '1' WHERE name = 'nothing'", "no such option"},
           Row{"UPDATE system.config SET value = '1' WHERE name = 'num_tokens'",
               "option is not live-updateable"},
           Row{"UPDATE system.config SET value = 'x' WHERE name = 'twcs_max_window_count'",
               "cannot parse option value"},
           Row{"UPDATE system.config SET value = null WHERE name = 'twcs_max_window_count'",
               "option value is required"},
           Row{"UPDATE system.config SET value = '1', type = 'a' WHERE name = 'num_tokens'",
               "option type is immutable"},
           Row{"UPDATE system.config SET value = '1', source = 'a' WHERE name = 'num_tokens'",
               "option source is not updateable"},
           Row{"UPDATE system.config SET value = 'maybe' WHERE name = 'strict_allow_filtering'",
               "Operation failed for system.config - received 0 responses and 1 failures from 1 "
               "CL=ONE."},
       }) {
    const CqlAnswer answer = Ask(row.statement);
    EXPECT_EQ(answer.error, row.error) << row.statement;
    EXPECT_EQ(answer.code, kWriteFailure) << row.statement;
  }
  Set("enable_cql_config_updates", "false");
  EXPECT_EQ(Ask("UPDATE system.config SET value = '9' WHERE name = 'twcs_max_window_count'").error,
            "this virtual table doesn't allow updates");
}

// Source: ScyllaDB cql3/statements/select_statement.cc, needs_allow_filtering_anyway;
// cql3/query_processor.cc, do_execute_prepared.
TEST_F(SettingsOverCql, StrictAllowFiltering) {
  Start({});
  const std::string scan = "SELECT * FROM k.t WHERE c = 1";
  const std::string by_token = "SELECT * FROM k.t WHERE token(p) > 0 AND c > 1";
  for (const std::string& text : {scan, by_token}) {
    EXPECT_EQ(Ask(text).warnings, std::vector<std::string>{kFilteringText}) << text;
    EXPECT_TRUE(Execute(text).warnings.empty()) << "EXECUTE warns of nothing: " << text;
  }
  EXPECT_TRUE(Ask(scan + " ALLOW FILTERING").warnings.empty());
  Set("strict_allow_filtering", "false");
  EXPECT_TRUE(Ask(scan).warnings.empty());
  Set("strict_allow_filtering", "true");
  EXPECT_NE(Ask(scan).error.find("use ALLOW FILTERING"), std::string::npos);
  EXPECT_EQ(Ask(by_token).code, kInvalid);
  EXPECT_EQ(Ask(scan + " ALLOW FILTERING").error, "");
  EXPECT_EQ(Execute(scan).error, "") << "what was prepared before is as it was";
}

// Source: ScyllaDB cql3/statements/create_view_statement.cc, prepare_view.
TEST_F(SettingsOverCql, StrictIsNotNullInViews) {
  Start({});
  const auto view = [](const std::string& name) {
    return "CREATE MATERIALIZED VIEW k." + name +
           " AS SELECT * FROM k.t WHERE p IS NOT NULL AND c IS NOT NULL AND v IS NOT NULL "
           "PRIMARY KEY (c, p)";
  };
  const std::string found =
      "The IS NOT NULL restriction is allowed only columns which are part of the view's primary "
      "key, found columns: v. ";
  EXPECT_EQ(
      Must(view("v1")).warnings,
      std::vector<std::string>{
          found + "Restrictions on these columns will be silently ignored. The flag "
                  "strict_is_not_null_in_views can be used to turn this warning into an error, or "
                  "to silence it. (true - error, warn - warning, false - silent)"});
  Set("strict_is_not_null_in_views", "false");
  EXPECT_TRUE(Must(view("v2")).warnings.empty());
  Set("strict_is_not_null_in_views", "true");
  const CqlAnswer refused = Ask(view("v3"));
  EXPECT_EQ(refused.code, kInvalid);
  EXPECT_EQ(refused.error, found +
                               "The flag strict_is_not_null_in_views can be used to turn this "
                               "error into a warning, or to silence it. (true - error, warn - "
                               "warning, false - silent)");
}

std::string Keyspace(const std::string& name, const std::string& replication) {
  return "CREATE KEYSPACE " + name + " WITH replication = {'class': " + replication + "}";
}

// Source: ScyllaDB cql3/statements/create_keyspace_statement.cc,
// check_against_restricted_replication_strategies.
TEST_F(SettingsOverCql, ReplicationFactors) {
  Start({});
  struct Row {
    const char* setting;
    const char* value;
    const char* factor;
    int32_t code;
    const char* said;  // a warning where the code is 0
  };
  const Row rows[] = {
      {"minimum_replication_factor_warn_threshold", "3", "2", 0,
       "Using Replication Factor replication_factor=2 lower than the "
       "minimum_replication_factor_warn_threshold=3 is not recommended."},
      {"minimum_replication_factor_warn_threshold", "3", "3", 0, ""},
      {"minimum_replication_factor_warn_threshold", "3", "0", 0, ""},
      {"minimum_replication_factor_warn_threshold", "-1", "1", 0, ""},
      {"maximum_replication_factor_warn_threshold", "4", "5", 0,
       "Using Replication Factor replication_factor=5 greater than the "
       "maximum_replication_factor_warn_threshold=4 is not recommended."},
      {"minimum_replication_factor_fail_threshold", "2", "1", kConfigError,
       "Replication Factor replication_factor=1 is forbidden by the current configuration setting "
       "of minimum_replication_factor_fail_threshold=2. Please increase replication factor, or "
       "lower minimum_replication_factor_fail_threshold set in the configuration."},
      {"maximum_replication_factor_fail_threshold", "6", "7", kConfigError,
       "Replication Factor replication_factor=7 is forbidden by the current configuration setting "
       "of maximum_replication_factor_fail_threshold=6. Please decrease replication factor, or "
       "increase maximum_replication_factor_fail_threshold set in the configuration."},
  };
  int number = 0;
  for (const Row& row : rows) {
    Set(row.setting, row.value);
    const std::string name = "f" + std::to_string(++number);
    const CqlAnswer answer = Ask(Keyspace(
        name, std::string("'NetworkTopologyStrategy', 'replication_factor': ") + row.factor));
    EXPECT_EQ(answer.code, row.code) << row.setting;
    EXPECT_EQ(answer.error, row.code == 0 ? "" : row.said) << row.setting;
    if (row.code != 0) continue;
    const std::vector<std::string> expected =
        *row.said == '\0' ? std::vector<std::string>() : std::vector<std::string>{row.said};
    EXPECT_EQ(answer.warnings, expected) << row.setting << " " << row.factor;
  }
  EXPECT_EQ(Ask("ALTER KEYSPACE k WITH replication = {'class': 'NetworkTopologyStrategy', "
                "'datacenter1': 1}")
                .code,
            kConfigError);
}

TEST_F(SettingsOverCql, ReplicationStrategies) {
  Start({{"minimum_replication_factor_warn_threshold", "-1"}});
  const std::string simple = "'SimpleStrategy', 'replication_factor': 1";
  const std::string topology = "'NetworkTopologyStrategy', 'replication_factor': 1";
  const std::string warning =
      "SimpleStrategy replication class is not recommended, but was used for keyspace s1. You may "
      "suppress this warning by delisting SimpleStrategy from replication_strategy_warn_list "
      "configuration option, or make it into an error by listing this replication strategy on "
      "replication_strategy_fail_list.";
  EXPECT_EQ(Must(Keyspace("s1", simple)).warnings, std::vector<std::string>{warning});
  EXPECT_TRUE(Must(Keyspace("s2", topology)).warnings.empty());
  EXPECT_EQ(Execute("ALTER KEYSPACE s1 WITH replication = {'class': " + simple + "}").warnings,
            std::vector<std::string>{warning});
  Set("replication_strategy_warn_list", "[NetworkTopologyStrategy]");
  EXPECT_TRUE(Must(Keyspace("s3", simple)).warnings.empty());
  EXPECT_EQ(Must(Keyspace("s4", topology)).warnings.size(), 1u);
  Set("replication_strategy_fail_list", "SimpleStrategy");
  const CqlAnswer refused = Ask(Keyspace("s5", simple));
  EXPECT_EQ(refused.code, kConfigError);
  EXPECT_EQ(refused.error,
            "SimpleStrategy replication class is not recommended, and forbidden by the current "
            "configuration, but was used for keyspace s5. You may override this restriction by "
            "modifying replication_strategy_fail_list configuration option to not list "
            "SimpleStrategy.");
  Set("replication_strategy_fail_list", "[]");
  Set("restrict_replication_simplestrategy", "true");
  EXPECT_EQ(Ask(Keyspace("s6", simple)).code, kConfigError);
  Set("restrict_replication_simplestrategy", "warn");
  EXPECT_EQ(Must(Keyspace("s7", simple)).warnings.size(), 1u);
}

// Source: ScyllaDB cql3/statements/create_table_statement.cc, check_restricted_table_properties.
TEST_F(SettingsOverCql, Tablets) {
  Start({{"enable_tablets", "true"}, {"minimum_replication_factor_warn_threshold", "-1"}});
  const auto keyspace = [](const std::string& name, const std::string& strategy) {
    return "CREATE KEYSPACE " + name + " WITH replication = {'class': '" + strategy +
           "', 'replication_factor': 1}";
  };
  const CqlAnswer made = Ask(keyspace("n1", "NetworkTopologyStrategy"));
  ASSERT_EQ(made.warnings.size(), 1u);
  EXPECT_TRUE(made.warnings[0].starts_with("Tables in this keyspace will be replicated using "));
  EXPECT_EQ(Ask(keyspace("s1", "SimpleStrategy") + " AND durable_writes = true").error, "");
  EXPECT_EQ(Ask(keyspace("n2", "NetworkTopologyStrategy") + " AND tablets = {'enabled': false}")
                .warnings.size(),
            0u);
  EXPECT_EQ(Cell("SELECT toJson(initial_tablets) FROM system_schema.scylla_keyspaces"), "0");
  Must("CREATE TABLE n1.t (p int PRIMARY KEY, v int)");
  const char* conditional = "INSERT INTO n1.t (p, v) VALUES (1, 1) IF NOT EXISTS";
  for (const CqlAnswer& answer : {Ask(conditional), Execute(conditional)}) {
    EXPECT_EQ(answer.error,
              "Cannot use LightWeight Transactions for table n1.t: LWT is not yet supported with "
              "tablets");
  }
  Must("CREATE TABLE n2.t (p int PRIMARY KEY, v int)");
  EXPECT_EQ(Ask("INSERT INTO n2.t (p, v) VALUES (1, 1) IF NOT EXISTS").error, "");
  // Of tablets each table has a ring of its own.
  EXPECT_EQ(Cell("SELECT table_name FROM system.token_ring WHERE keyspace_name = 'n1'"), "t");
  EXPECT_EQ(Cell("SELECT table_name FROM system.token_ring WHERE keyspace_name = 'n2'"), "<ALL>");
}

TEST_F(SettingsOverCql, TimeWindows) {
  Start({});
  const auto table = [](const std::string& name, int64_t ttl, const std::string& window) {
    return "CREATE TABLE k." + name +
           " (p int PRIMARY KEY) WITH default_time_to_live = " + std::to_string(ttl) +
           " AND compaction = {'class': 'TimeWindowCompactionStrategy'" + window + "}";
  };
  EXPECT_EQ(Ask(table("w1", 50 * 86'400, "")).error, "");
  EXPECT_TRUE(Must(table("w2", 0, "")).warnings.empty()) << "a line of ScyllaDB's log alone";
  const std::string minutes = ", 'compaction_window_unit': 'MINUTES', 'compaction_window_size': 2";
  const CqlAnswer refused = Ask(table("w3", 86'400, minutes));
  EXPECT_EQ(refused.code, kConfigError);
  EXPECT_EQ(
      refused.error,
      "The setting of default_time_to_live=86400 and compaction window=120(s) can lead to 720 "
      "windows, which is larger than the allowed number of windows specified by the "
      "twcs_max_window_count (50) parameter. Note that default_time_to_live=0 is also highly "
      "discouraged.");
  EXPECT_EQ(Ask("ALTER TABLE k.w1 WITH default_time_to_live = 86400000").code, kConfigError);
  EXPECT_EQ(Ask("ALTER TABLE k.w1 WITH comment = 'x'").error, "");
  Set("twcs_max_window_count", "0");
  EXPECT_EQ(Ask(table("w4", 86'400, minutes)).error, "");
  Set("restrict_twcs_without_default_ttl", "true");
  EXPECT_EQ(Ask(table("w5", 0, "")).error,
            "TimeWindowCompactionStrategy tables without a strict default_time_to_live setting are "
            "forbidden. You may override this restriction by setting "
            "restrict_twcs_without_default_ttl configuration option to false.");
  EXPECT_EQ(Ask("ALTER TABLE k.t WITH compaction = {'class': 'TimeWindowCompactionStrategy'}").code,
            kConfigError);
  Set("restrict_twcs_without_default_ttl", "false");
  EXPECT_EQ(Ask(table("w6", 0, "")).error, "");
}

// Source: ScyllaDB cql3/restrictions/statement_restrictions.cc, max_clustering_key_restrictions...
TEST_F(SettingsOverCql, KeysOfInLists) {
  Start({});
  const std::string clustering = "SELECT * FROM k.t WHERE p = 1 AND c IN (1, 2, 3)";
  const std::string partitions = "SELECT * FROM k.t WHERE p IN (1, 2, 3)";
  EXPECT_EQ(Execute(clustering).error, "");
  Set("max_clustering_key_restrictions_per_query", "2");
  for (const CqlAnswer& answer : {Ask(clustering), Execute(clustering)}) {
    EXPECT_EQ(answer.code, kServerError);
    EXPECT_EQ(answer.error,
              "size of clustering-key IN list or clustering-key cartesian product of IN list 3 is "
              "greater than maximum 2. Use --max-clustering-key-restrictions-per-query "
              "configuration option to change default setting.");
  }
  EXPECT_EQ(Ask(partitions).error, "");
  Set("max_partition_key_restrictions_per_query", "2");
  EXPECT_NE(Ask(partitions).error.find("greater than maximum 2"), std::string::npos);
  EXPECT_EQ(Ask("SELECT * FROM k.t WHERE p IN (1, 2)").error, "");
}

// Source: ScyllaDB cql3/util.cc, validate_timestamp.
TEST_F(SettingsOverCql, FutureTimestamps) {
  Start({});
  const std::string insert =
      "INSERT INTO k.t (p, c, v) VALUES (1, 1, 1) USING TIMESTAMP 9000000000000000";
  const std::string batch =
      "BEGIN BATCH USING TIMESTAMP 9000000000000000 "
      "INSERT INTO k.t (p, c, v) VALUES (1, 1, 1); APPLY BATCH";
  for (const std::string& text : {insert, batch}) {
    EXPECT_NE(Ask(text).error.find("more than 3 days into the future"), std::string::npos);
    EXPECT_NE(Execute(text).error, "");
  }
  Set("restrict_future_timestamp", "false");
  for (const std::string& text : {insert, batch}) {
    EXPECT_EQ(Ask(text).error, "") << text;
    EXPECT_EQ(Execute(text).error, "") << text;
  }
}

// Source: ScyllaDB cql3/Cql.g, new_bind_variables.
TEST_F(SettingsOverCql, BindVariablesNamedTwice) {
  Start({});
  const std::string text = "INSERT INTO k.t (p, c, v) VALUES (:a, :a, 3)";
  const BoundParameter one{cql::EncodeInt(1)};
  EXPECT_EQ(Refusal({text, {one}}), "");
  Set("cql_duplicate_bind_variable_names_refer_to_same_variable", "false");
  EXPECT_NE(Refusal({text, {one}}), "");
  EXPECT_EQ(Refusal({text, {one, BoundParameter{cql::EncodeInt(2)}}, true}), "");
  EXPECT_EQ(Must("SELECT c FROM k.t WHERE p = 1").rows.size(), 2u);
}

// Source: ScyllaDB cql3/statements/batch_statement.cc, verify_batch_size.
TEST_F(SettingsOverCql, BatchSize) {
  const std::string batch = "BEGIN BATCH INSERT INTO k.b (p, v) VALUES (1, '" +
                            std::string(600, 'x') + "'); INSERT INTO k.b (p, v) VALUES (2, '" +
                            std::string(600, 'x') + "'); APPLY BATCH";
  Start({{"batch_size_fail_threshold_in_kb", "1"}});
  Must("CREATE TABLE k.b (p int PRIMARY KEY, v text)");
  EXPECT_EQ(Ask(batch).error, "Batch too large");
  Start({});
  Must("CREATE TABLE k.b (p int PRIMARY KEY, v text)");
  EXPECT_EQ(Ask(batch).error, "");
  EXPECT_EQ(Ask("UPDATE system.config SET value = '1' WHERE name = "
                "'batch_size_fail_threshold_in_kb'")
                .error,
            "option is not live-updateable");
}

// Sources: ScyllaDB cql3/statements/select_statement.cc, select_timeout; modification_statement.cc,
// modification_statement_timeout; batch_statement.cc, timeout_for_type.
TEST_F(SettingsOverCql, TimeoutsOfNothing) {
  struct Row {
    const char* setting;
    const char* statement;
    int32_t code;
  };
  const Row rows[] = {
      {"read_request_timeout_in_ms", "SELECT * FROM k.t WHERE p = 1", kReadTimeout},
      {"range_request_timeout_in_ms", "SELECT * FROM k.t", kReadTimeout},
      {"write_request_timeout_in_ms", "INSERT INTO k.t (p, c) VALUES (1, 2)", kWriteTimeout},
      {"write_request_timeout_in_ms",
       "BEGIN BATCH INSERT INTO k.t (p, c) VALUES (1, 2); APPLY BATCH", kWriteTimeout},
      {"counter_write_request_timeout_in_ms", "UPDATE k.n SET n = n + 1 WHERE p = 1",
       kWriteTimeout},
      {"truncate_request_timeout_in_ms", "TRUNCATE k.t", kTruncateError},
  };
  Start({});
  for (const Row& row : rows) {
    EXPECT_EQ(Ask(row.statement).error, "") << row.statement;
    Set(row.setting, "0");
    EXPECT_EQ(Ask(row.statement).code, row.code) << row.statement;
    EXPECT_EQ(Execute(row.statement).code, row.code) << row.statement;
    for (const Row& other : rows) {
      if (std::string(other.setting) == row.setting) continue;
      EXPECT_EQ(Ask(other.statement).error, "") << row.setting << ": " << other.statement;
    }
    Set(row.setting, "5000");
    EXPECT_EQ(Execute(row.statement).error, "") << row.statement;
  }
  Set("read_request_timeout_in_ms", "0");
  EXPECT_EQ(Ask("SELECT * FROM k.t WHERE p = 1 USING TIMEOUT 1s").error, "")
      << "a timeout of its own";
}

// What drivers go by when they try again. Source: ScyllaDB service/storage_proxy.cc,
// paxos_response_handler::prepare_ballot, mutate_counters.
TEST_F(SettingsOverCql, TimeoutsSayWhichWriteItWas) {
  Start({});
  Set("write_request_timeout_in_ms", "0");
  Set("counter_write_request_timeout_in_ms", "0");
  RawCqlClient client(server_->cql_port());
  ASSERT_TRUE(client.StartUp());
  struct Row {
    const char* statement;
    const char* consistency;
    const char* type;
  };
  for (const Row& row : {
           Row{"INSERT INTO k.t (p, c) VALUES (1, 2)", "ONE", "SIMPLE"},
           Row{"INSERT INTO k.t (p, c) VALUES (1, 2) IF NOT EXISTS", "SERIAL", "CAS"},
           Row{"BEGIN BATCH UPDATE k.t SET v = 1 WHERE p = 1 AND c = 2 IF v = 1; APPLY BATCH",
               "SERIAL", "CAS"},
           Row{"UPDATE k.n SET n = n + 1 WHERE p = 1", "ONE", "COUNTER"},
       }) {
    const auto frame = client.Query(row.statement);
    ASSERT_TRUE(frame) << row.statement;
    const std::string text =
        std::string("received only 0 responses from 1 CL=") + row.consistency + ".";
    EXPECT_NE(frame->body.find(text), std::string::npos) << row.statement;
    const std::string type = row.type;
    EXPECT_TRUE(frame->body.ends_with(std::string(1, '\0') + static_cast<char>(type.size()) + type))
        << row.statement << ": " << ToHex(frame->body);
  }
}

// Source: ScyllaDB replica/database.cc, get_query_max_result_size.
TEST_F(SettingsOverCql, BytesOfAPage) {
  Start({});
  Must("CREATE TABLE k.wide (p int, c int, v text, PRIMARY KEY (p, c))");
  for (const char* row : {"1", "2", "3", "4"}) {
    Must(std::string("INSERT INTO k.wide (p, c, v) VALUES (1, ") + row + ", '" +
         std::string(600, 'x') + "')");
  }
  const auto rows = [&](bool prepared) {
    const CqlStatement select{"SELECT * FROM k.wide WHERE p = 1", {}, prepared};
    CqlParameters parameters;
    parameters.page_size = 100;
    const CqlAnswer page = Must(select, parameters);
    EXPECT_EQ(page.rows.size() < 4, !page.paging_state.empty());
    return page.rows.size();
  };
  EXPECT_EQ(rows(false), 4u);
  EXPECT_EQ(rows(true), 4u);
  Set("query_page_size_in_bytes", "1000");
  EXPECT_EQ(rows(false), 2u) << "a page ends with the row that is too much";
  EXPECT_EQ(rows(true), 2u);
}

TEST_F(SettingsOverCql, Tokens) {
  Start({{"num_tokens", "4"}});
  const std::string tokens = Cell("SELECT tokens FROM system.local");
  EXPECT_EQ(tokens.substr(0, 4), std::string("\0\0\0\4", 4)) << "a set of four";
  EXPECT_NE(tokens.find("4611686018427387903"), std::string::npos) << tokens;
}

TEST_F(SettingsOverCql, AResetUndoesWhatClientsHaveChanged) {
  Start({{"strict_allow_filtering", "false"}});
  const std::string scan = "SELECT * FROM k.t WHERE c = 1";
  Must("UPDATE liststore.data SET action = 'mark' WHERE key = 'data'");
  Set("strict_allow_filtering", "true");
  EXPECT_EQ(Ask(scan).code, kInvalid);
  Must("UPDATE liststore.data SET action = 'reset' WHERE key = 'data'");
  EXPECT_EQ(Ask(scan).error, "");
  EXPECT_EQ(Shown("source", "strict_allow_filtering"), "cli");
}

TEST_F(SettingsOverCql, ACassandraWarnsOfNothing) {
  CqlServerOptions options;
  options.looks_like_scylla = false;
  StartServer(options, "k");
  EXPECT_TRUE(Must(Keyspace("s", "'SimpleStrategy', 'replication_factor': 1")).warnings.empty());
  EXPECT_NE(Refusal("SELECT * FROM system.config"), "") << "a table of ScyllaDB";
}

TEST_F(SettingsOverCql, WrongOptionsStartNoServer) {
  struct Row {
    ScyllaOption option;
    const char* said;
  };
  for (const Row& row : {
           Row{{"num_token", "1"},
               "num_token: ScyllaDB has no such option; did you mean num_tokens?"},
           Row{{"num_tokens", "-1"}, "num_tokens: '-1' is not a number from 0 to 4294967295"},
           Row{{"num_tokens", "5000"}, "num_tokens: 5000 is more than 4096"},
       }) {
    CqlServerOptions options;
    options.memory_limit_bytes = 64 << 20;
    options.scylla_options = {row.option};
    const auto server = CqlServer::Start(options);
    ASSERT_FALSE(server.ok()) << row.said;
    EXPECT_EQ(server.status().message(), row.said);
  }
}

}  // namespace settings_over_cql_test
}  // namespace liststore::testing
