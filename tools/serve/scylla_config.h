// What --scylla-config and --scylla-option come to.
#ifndef LISTSTORE_TOOLS_SERVE_SCYLLA_CONFIG_H_
#define LISTSTORE_TOOLS_SERVE_SCYLLA_CONFIG_H_

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/settings/scylla_settings.h"
#include "liststore/cql_server.h"
#include "tools/serve/serve.h"

namespace liststore {

struct ScyllaChoice {
  settings::ScyllaConfig config;
  // For CqlServerOptions::scylla_options.
  std::vector<ScyllaOption> given;
  // Those asked for, but for what ScyllaDB's options say where no flag does: ports, address, the
  // cluster's name, authentication.
  ServeOptions options;
  // By the names of those: which option says so, "native_transport_port".
  std::map<std::string, std::string, std::less<>> from_scylla;
  // By ScyllaDB's names, of those that were given.
  std::map<std::string, SettingOrigin, std::less<>> origins;
  // Those that are no file's of ScyllaDB: --scylla-option, in whatever place.
  std::set<std::string, std::less<>> own;
  // For the log: what the file has and ScyllaDB does not know, one text for each; and names that
  // have no effect.
  std::vector<std::string> unknown;
  std::vector<std::string> without_effect;
};

// InvalidArgument: the file is no scylla.yaml, or a value is none of its option: "FILE:LINE: NAME:
// 'VALUE' is not ..."; a --scylla-option is not NAME=VALUE, or ScyllaDB has no such option.
absl::StatusOr<ScyllaChoice> ChooseScyllaConfig(const ServeOptions& options);

}  // namespace liststore

#endif  // LISTSTORE_TOOLS_SERVE_SCYLLA_CONFIG_H_
