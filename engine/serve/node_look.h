// What a node says of itself, from what its options ask for.
#ifndef LISTSTORE_ENGINE_SERVE_NODE_LOOK_H_
#define LISTSTORE_ENGINE_SERVE_NODE_LOOK_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "engine/cql/schema/virtual_table.h"
#include "engine/cql/syntax/dialect.h"
#include "engine/settings/scylla_settings.h"
#include "liststore/cql_server.h"

namespace liststore {

struct NodeLook {
  cql::NodeFacts facts;  // but for the host id and the start
  // Of the Cassandra whose look it is; 4 where nobody has said which.
  uint32_t cassandra_major = 4;
  bool looks_like_scylla = true;
  cql::Dialect dialect;  // of its CQL
};

// Looks at like, data_center, other_data_centers, rack, cluster_name, release_version and
// looks_like_scylla. InvalidArgument: `like` is none of those that there are; a name is empty,
// longer than 128 bytes or not printable UTF-8; the version is none, or not one of the look.
absl::StatusOr<NodeLook> MakeNodeLook(const CqlServerOptions& options,
                                      const settings::ScyllaConfig& config);
// ScyllaDB's defaults and what the options say. InvalidArgument: an option is not known, or its
// value none.
absl::StatusOr<settings::ScyllaConfig> MakeScyllaConfig(const CqlServerOptions& options);

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_SERVE_NODE_LOOK_H_
