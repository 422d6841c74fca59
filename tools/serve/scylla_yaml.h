// A scylla.yaml: names and values, as texts.
#ifndef LISTSTORE_TOOLS_SERVE_SCYLLA_YAML_H_
#define LISTSTORE_TOOLS_SERVE_SCYLLA_YAML_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace liststore {

struct ScyllaYamlEntry {
  std::string name;
  std::string value;  // lists as [a,b], maps as {a:1,b:2}
  size_t line = 0;    // counts from 1
};

// What the file says, in its order; names without a value are left out, as ScyllaDB does. Whether
// there are such names and values is for others to say. NotFound: the file cannot be read.
// InvalidArgument: it is no YAML, or not a map at its top; the message begins with file and line.
absl::StatusOr<std::vector<ScyllaYamlEntry>> ReadScyllaYaml(const std::string& path);
// The same of the text of a file, called `path` in messages.
absl::StatusOr<std::vector<ScyllaYamlEntry>> ParseScyllaYaml(std::string_view text,
                                                             const std::string& path);

}  // namespace liststore

#endif  // LISTSTORE_TOOLS_SERVE_SCYLLA_YAML_H_
