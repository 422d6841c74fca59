#include "engine/protocol/scylla_options.h"

#include "absl/strings/str_cat.h"
#include "engine/base/check.h"

namespace liststore::protocol {
namespace {

constexpr std::string_view kLwtMark = "SCYLLA_LWT_ADD_METADATA_MARK";
constexpr std::string_view kRateLimitError = "SCYLLA_RATE_LIMIT_ERROR";
constexpr std::string_view kUseMetadataId = "SCYLLA_USE_METADATA_ID";
constexpr std::string_view kTabletsRouting = "TABLETS_ROUTING_V1";

void Add(std::vector<SupportedOption>& options, std::string_view key, std::string value) {
  options.push_back({std::string(key), {std::move(value)}});
}

}  // namespace

Extensions ExtensionsOf(std::span<const StringPair> startup_options) {
  Extensions extensions;
  for (const StringPair& option : startup_options) {
    extensions.lwt_mark |= option.key == kLwtMark;
    extensions.rate_limit_error |= option.key == kRateLimitError;
    extensions.metadata_id |= option.key == kUseMetadataId;
    extensions.tablets_routing |= option.key == kTabletsRouting;
  }
  return extensions;
}

std::vector<SupportedOption> ScyllaSupported(const ShardingOptions& sharding) {
  // The Rust driver refuses a shard that is none, and gocql takes a 0 for "no sharding".
  LS_CHECK(sharding.shard < sharding.shard_count, "a connection is served by one of the shards");
  LS_CHECK(sharding.ignore_msb != 0, "drivers route by shards only when some bits are ignored");
  std::vector<SupportedOption> options;
  // Each key has one value: the Java driver takes a list of any other length for absent.
  Add(options, "CQL_VERSION", "3.3.1");
  options.push_back({"COMPRESSION", {"lz4", "snappy"}});
  Add(options, "CLIENT_OPTIONS", "");
  if (!sharding.host_id.empty()) Add(options, "SCYLLA_HOST_ID", sharding.host_id);
  Add(options, "SCYLLA_SHARD", absl::StrCat(sharding.shard));
  Add(options, "SCYLLA_NR_SHARDS", absl::StrCat(sharding.shard_count));
  Add(options, "SCYLLA_PARTITIONER", "org.apache.cassandra.dht.Murmur3Partitioner");
  Add(options, "SCYLLA_SHARDING_ALGORITHM", "biased-token-round-robin");
  Add(options, "SCYLLA_SHARDING_IGNORE_MSB", absl::StrCat(sharding.ignore_msb));
  if (sharding.shard_aware_port) {
    Add(options, "SCYLLA_SHARD_AWARE_PORT", absl::StrCat(*sharding.shard_aware_port));
  }
  if (sharding.shard_aware_port_ssl) {
    Add(options, "SCYLLA_SHARD_AWARE_PORT_SSL", absl::StrCat(*sharding.shard_aware_port_ssl));
  }
  // The bit of encode_result.cc, and ErrorCode::kRateLimit.
  if (sharding.extensions.lwt_mark) {
    Add(options, kLwtMark, "LWT_OPTIMIZATION_META_BIT_MASK=2147483648");
  }
  if (sharding.extensions.rate_limit_error) Add(options, kRateLimitError, "ERROR_CODE=61440");
  if (sharding.extensions.tablets_routing) Add(options, kTabletsRouting, "");
  if (sharding.extensions.metadata_id) Add(options, kUseMetadataId, "");
  return options;
}

std::vector<SupportedOption> CassandraSupported(std::string_view cql_version) {
  std::vector<SupportedOption> options;
  Add(options, "CQL_VERSION", std::string(cql_version));
  // The Python driver looks this key up without asking whether it is there.
  options.push_back({"COMPRESSION", {"snappy", "lz4"}});
  options.push_back({"PROTOCOL_VERSIONS", {"3/v3", "4/v4"}});
  return options;
}

}  // namespace liststore::protocol
