#include "engine/protocol/scylla_options.h"

#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"

namespace liststore::protocol {
namespace scylla_options_test {

TEST(ScyllaSupportedTest, OffersWhatAScyllaDbNodeDoes) {
  ShardingOptions sharding;
  sharding.shard = 1;
  sharding.shard_count = 2;
  sharding.shard_aware_port = 19042;
  sharding.shard_aware_port_ssl = 19142;
  sharding.host_id = "a-b-c";
  sharding.extensions = {true, true, true, true};
  const std::vector<SupportedOption> expected = {
      {"CQL_VERSION", {"3.3.1"}},
      {"COMPRESSION", {"lz4", "snappy"}},
      {"CLIENT_OPTIONS", {""}},
      {"SCYLLA_HOST_ID", {"a-b-c"}},
      {"SCYLLA_SHARD", {"1"}},
      {"SCYLLA_NR_SHARDS", {"2"}},
      {"SCYLLA_PARTITIONER", {"org.apache.cassandra.dht.Murmur3Partitioner"}},
      {"SCYLLA_SHARDING_ALGORITHM", {"biased-token-round-robin"}},
      {"SCYLLA_SHARDING_IGNORE_MSB", {"12"}},
      {"SCYLLA_SHARD_AWARE_PORT", {"19042"}},
      {"SCYLLA_SHARD_AWARE_PORT_SSL", {"19142"}},
      {"SCYLLA_LWT_ADD_METADATA_MARK", {"LWT_OPTIMIZATION_META_BIT_MASK=2147483648"}},
      {"SCYLLA_RATE_LIMIT_ERROR", {"ERROR_CODE=61440"}},
      {"TABLETS_ROUTING_V1", {""}},
      {"SCYLLA_USE_METADATA_ID", {""}},
  };
  EXPECT_EQ(ScyllaSupported(sharding), expected);
}

TEST(ScyllaSupportedTest, WhatTheServerLacksIsLeftOut) {
  for (const SupportedOption& option : ScyllaSupported({})) {
    EXPECT_NE(option.key, "SCYLLA_HOST_ID");
    EXPECT_NE(option.key, "SCYLLA_SHARD_AWARE_PORT");
    EXPECT_NE(option.key, "SCYLLA_SHARD_AWARE_PORT_SSL");
    EXPECT_NE(option.key, "SCYLLA_LWT_ADD_METADATA_MARK");
    EXPECT_NE(option.key, "SCYLLA_USE_METADATA_ID");
    EXPECT_NE(option.key, "TABLETS_ROUTING_V1");
  }
}

TEST(CassandraSupportedTest, NamesNothingOfScyllaDb) {
  bool has_compression = false;
  for (const SupportedOption& option : CassandraSupported()) {
    EXPECT_EQ(option.key.find("SCYLLA"), std::string::npos) << option.key;
    has_compression |= option.key == "COMPRESSION";
  }
  EXPECT_TRUE(has_compression) << "the Python driver fails without the key";
}

TEST(ExtensionsTest, TheServerMasksWhatItDoesNotOffer) {
  const Extensions asked = {true, true, false, false};
  const Extensions offered = {true, false, true, false};
  EXPECT_EQ(asked & offered, (Extensions{true, false, false, false}));
}

}  // namespace scylla_options_test
}  // namespace liststore::protocol
