// What a server offers in SUPPORTED, and the extensions that a client may choose of it.
//
// Source: ScyllaDB docs/dev/protocol-extensions.md, transport/server.cc (make_supported),
// transport/cql_protocol_extension.cc.
#ifndef LISTSTORE_ENGINE_PROTOCOL_SCYLLA_OPTIONS_H_
#define LISTSTORE_ENGINE_PROTOCOL_SCYLLA_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/protocol/primitives.h"

namespace liststore::protocol {

// Extensions agreed on by a connection: a client echoes the keys it wants in STARTUP.
struct Extensions {
  // SCYLLA_LWT_ADD_METADATA_MARK: Prepared tells conditional statements apart.
  bool lwt_mark = false;
  // SCYLLA_RATE_LIMIT_ERROR: ErrorCode::kRateLimit has a code of its own.
  bool rate_limit_error = false;
  // SCYLLA_USE_METADATA_ID: EXECUTE and Prepared carry result metadata ids, as in v5.
  bool metadata_id = false;
  // TABLETS_ROUTING_V1.
  bool tablets_routing = false;

  Extensions operator&(const Extensions& other) const {
    return {lwt_mark && other.lwt_mark, rate_limit_error && other.rate_limit_error,
            metadata_id && other.metadata_id, tablets_routing && other.tablets_routing};
  }
  bool operator==(const Extensions&) const = default;
};

// Those named by keys of STARTUP; values do not count.
Extensions ExtensionsOf(std::span<const StringPair> startup_options);

// An entry of the [string multimap] of SUPPORTED.
struct SupportedOption {
  std::string key;
  std::vector<std::string> values;

  bool operator==(const SupportedOption&) const = default;
};

// What drivers need in order to reach the shard that owns a partition. All or nothing: the Python
// driver fails when it finds some of the keys alone.
struct ShardingOptions {
  // The shard of this connection; constant for its life, below `shard_count`.
  uint32_t shard = 0;
  uint32_t shard_count = 1;
  // Not 0: gocql would take sharding for switched off. ScyllaDB's default.
  uint32_t ignore_msb = 12;
  // The listener where the client's port chooses the shard; absent when there is none.
  std::optional<uint16_t> shard_aware_port;
  std::optional<uint16_t> shard_aware_port_ssl;
  // As in system.local; absent: not said.
  std::string host_id;
  // Which of the extensions are offered.
  Extensions extensions;
};

// SUPPORTED of a ScyllaDB node. Drivers that see it stop asking for system.peers_v2 and append
// USING TIMEOUT to statements on system tables.
std::vector<SupportedOption> ScyllaSupported(const ShardingOptions& sharding);
// SUPPORTED without any extension, as of a Cassandra node that speaks versions 3 and 4 of the
// protocol and this one of CQL.
std::vector<SupportedOption> CassandraSupported(std::string_view cql_version = "3.4.4");

}  // namespace liststore::protocol

#endif  // LISTSTORE_ENGINE_PROTOCOL_SCYLLA_OPTIONS_H_
