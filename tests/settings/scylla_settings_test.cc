// The table of ScyllaDB's settings, and what statements depend on of it.
#include "engine/settings/scylla_settings.h"

#include <gtest/gtest.h>

#include <string>

#include "engine/settings/live_settings.h"

namespace liststore {
namespace scylla_settings_test {

using Change = settings::LiveSettings::Change;
using Source = settings::SettingSource;

TEST(ScyllaSettings, DefaultsAreValuesOfTheirTypes) {
  EXPECT_GT(settings::ScyllaSettings().size(), 290u);
  for (const settings::Setting& setting : settings::ScyllaSettings()) {
    EXPECT_EQ(settings::NormalValue(setting.type, setting.default_value),
              std::string(setting.default_value))
        << setting.name;
    EXPECT_FALSE(settings::ScyllaTypeName(setting.type).empty()) << setting.name;
  }
}

TEST(ScyllaSettings, DefaultsOfStatementsAreThoseOfTheTable) {
  EXPECT_EQ(settings::ScyllaConfig().ToStatementSettings(), settings::StatementSettings());
}

TEST(ScyllaSettings, ALaterSourceWins) {
  settings::ScyllaConfig config;
  EXPECT_FALSE(config.Set("num_tokens", "16", Source::kCommandLine));
  EXPECT_FALSE(config.Set("num_tokens", "256", Source::kFile));
  EXPECT_EQ(config.of("num_tokens").text, "16");
  EXPECT_EQ(config.of("num_tokens").source, Source::kCommandLine);
  EXPECT_TRUE(config.is_given("num_tokens"));
  EXPECT_FALSE(config.is_given("cluster_name"));
  EXPECT_FALSE(config.Set("cql_port", "9043", Source::kFile)) << "another name";
  EXPECT_EQ(config.integer("native_transport_port"), 9043);
}

TEST(ScyllaSettings, WhatIsWrongIsNamed) {
  settings::ScyllaConfig config;
  EXPECT_EQ(config.Set("num_token", "1", Source::kFile),
            "num_token: ScyllaDB has no such option; did you mean num_tokens?");
  EXPECT_EQ(config.Set("num_tokens", "many", Source::kFile),
            "num_tokens: 'many' is not a number from 0 to 4294967295");
  EXPECT_EQ(config.Set("strict_allow_filtering", "maybe", Source::kFile),
            "strict_allow_filtering: 'maybe' is not true, false or warn");
  EXPECT_EQ(config.Set("replication_strategy_fail_list", "[Simple]", Source::kFile),
            "replication_strategy_fail_list: '[Simple]' is not a list of SimpleStrategy, "
            "LocalStrategy, NetworkTopologyStrategy, EverywhereStrategy");
}

// Source: ScyllaDB db/config.cc, value_to_json and its like.
TEST(ScyllaSettings, AreShownAsJson) {
  struct Row {
    const char* name;
    const char* value;
    const char* json;
  };
  for (const Row& row : {
           Row{"strict_allow_filtering", "1", "\"true\""},
           Row{"restrict_future_timestamp", "0", "false"},
           Row{"num_tokens", "16", "16"},
           Row{"replication_strategy_warn_list", "SimpleStrategy", "[\"SimpleStrategy\"]"},
           Row{"experimental_features", "[]", "[]"},
           Row{"experimental_features", "udf, tablets", "[\"udf\",\"tablets\"]"},
           Row{"data_file_directories", "[/a, '/b c']", "[\"/a\",\"/b c\"]"},
           Row{"cluster_name", "a \"b\"", "\"a \\\"b\\\"\""},
           Row{"client_encryption_options", "{enabled: false}", "{\"enabled\":\"false\"}"},
           Row{"seed_provider", "x", "\"seed_provider_type\""},
           Row{"index_cache_fraction", "0.30", "0.3"},
       }) {
    settings::ScyllaConfig config;
    ASSERT_FALSE(config.Set(row.name, row.value, Source::kFile)) << row.name;
    EXPECT_EQ(config.JsonAt(*settings::FindScyllaSetting(row.name)), row.json) << row.name;
  }
}

// Source: ScyllaDB db/virtual_tables.cc, db_config_table; utils/config_file_impl.hh, set_value.
TEST(LiveSettings, ChangeWhereScyllaDbLetsThem) {
  settings::LiveSettings live{settings::ScyllaConfig()};
  const uint64_t before = live.version();
  EXPECT_EQ(live.Set("no_such_thing", "1"), Change::kUnknown);
  EXPECT_EQ(live.Set("num_tokens", "2"), Change::kFixed);
  EXPECT_EQ(live.Set("twcs_max_window_count", "few"), Change::kNoValue);
  EXPECT_EQ(live.Set("strict_allow_filtering", "maybe"), Change::kNoWord);
  EXPECT_EQ(live.version(), before) << "nothing has changed";
  EXPECT_EQ(live.Set("strict_allow_filtering", "true"), Change::kDone);
  EXPECT_NE(live.version(), before);
  EXPECT_EQ(live.statements()->strict_allow_filtering, settings::RestrictionMode::kRefused);
  EXPECT_EQ(live.config().of("strict_allow_filtering").source, Source::kClient);
  EXPECT_EQ(live.Set("enable_cql_config_updates", "false"), Change::kDone);
  EXPECT_EQ(live.Set("strict_allow_filtering", "warn"), Change::kRefused);
}

TEST(LiveSettings, AResetUndoesWhatClientsHaveChanged) {
  settings::ScyllaConfig config;
  ASSERT_FALSE(config.Set("twcs_max_window_count", "7", Source::kFile));
  settings::LiveSettings live(config);
  ASSERT_EQ(live.Set("twcs_max_window_count", "8"), Change::kDone);
  const uint64_t changed = live.version();
  live.Reset();
  EXPECT_NE(live.version(), changed);
  EXPECT_EQ(live.statements()->twcs_max_window_count, 7u);
  EXPECT_EQ(live.config().of("twcs_max_window_count").source, Source::kFile);
}

TEST(LiveSettings, StayWhereTheyMayNotBeChangedByStatements) {
  settings::ScyllaConfig config;
  ASSERT_FALSE(
      config.Set("live_updatable_config_params_changeable_via_cql", "false", Source::kFile));
  settings::LiveSettings live(config);
  EXPECT_EQ(live.Set("strict_allow_filtering", "true"), Change::kFixed);
}

TEST(LiveSettings, PlansHoldUntilWhatTheyKeepChanges) {
  const struct {
    const char* name;
    const char* value;
    bool holds;
  } kRows[] = {
      {"strict_allow_filtering", "true", true},
      {"write_request_timeout_in_ms", "0", true},
      {"max_clustering_key_restrictions_per_query", "7", false},
      {"max_partition_key_restrictions_per_query", "7", false},
      {"restrict_future_timestamp", "false", true},
      {"cql_duplicate_bind_variable_names_refer_to_same_variable", "false", false},
  };
  for (const auto& row : kRows) {
    settings::LiveSettings live{settings::ScyllaConfig()};
    const auto before = live.statements();
    ASSERT_EQ(live.Set(row.name, row.value), Change::kDone) << row.name;
    EXPECT_EQ(live.statements()->HasPlansOf(*before), row.holds) << row.name;
  }
}

}  // namespace scylla_settings_test
}  // namespace liststore
