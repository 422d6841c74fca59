// What `liststore export` and `liststore import` have in common on the command line.
#ifndef LISTSTORE_TOOLS_LISTSTORE_COPY_ARGUMENTS_H_
#define LISTSTORE_TOOLS_LISTSTORE_COPY_ARGUMENTS_H_

#include <string>

#include "absl/status/statusor.h"
#include "programs/console/command_line.h"
#include "tools/copy/copy.h"
#include "tools/copy/table_file.h"

namespace liststore {

// What their help says about replication and about what CQL cannot tell; and about the server's address and the
// exit status.
extern const char kCopyHelp[];
extern const std::string kCopyExitHelp;

// Their options but the cluster's address. Parsing writes into `options`, which outlives it.
void AddCopyArguments(const Subcommand& command, CopyOptions* options);
// What they need of them where the other side is a file. InvalidArgument: options of a cluster are given, or
// not one table.
absl::StatusOr<TableFileOptions> ForFile(const CopyOptions& options, const TableFileOptions& file);

}  // namespace liststore

#endif  // LISTSTORE_TOOLS_LISTSTORE_COPY_ARGUMENTS_H_
