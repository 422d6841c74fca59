// `liststore serve --print-config`: what the settings come to, and where each of them comes from.
#ifndef LISTSTORE_TOOLS_SERVE_CONFIG_TEXT_H_
#define LISTSTORE_TOOLS_SERVE_CONFIG_TEXT_H_

#include <string>

#include "absl/status/statusor.h"
#include "tools/serve/serve.h"

namespace liststore {

// A configuration file: what is set stands as a line, what is a default, or what a scylla.yaml says, as a comment. Given
// back with --config it comes to the same. Passwords are not shown, nor maps of ScyllaDB that have one: their lines are no
// TOML, so that no server comes of them that asks for none.
// InvalidArgument: as RunServe refuses them.
absl::StatusOr<std::string> ConfigText(const ServeOptions& options);

// The same as one object: `config_file`; `settings`, by name, each with `value` (null: there is none, and `means` says
// what stands for it), `source` (default, file, environment, flag, or scylla-config, where ScyllaDB's `option` says so)
// and, where there is one, `place`; `scylla_options`, with `has_effect` too.
absl::StatusOr<std::string> ConfigJson(const ServeOptions& options);

}  // namespace liststore

#endif  // LISTSTORE_TOOLS_SERVE_CONFIG_TEXT_H_
