// What `liststore export` and `liststore import` have in common on the command line.
#ifndef LISTSTORE_TOOLS_LISTSTORE_COPY_ARGUMENTS_H_
#define LISTSTORE_TOOLS_LISTSTORE_COPY_ARGUMENTS_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "programs/console/command_line.h"
#include "tools/copy/copy.h"
#include "tools/copy/table_file.h"

namespace liststore {

// What their help says about replication and about what CQL cannot tell, and about the exit status.
extern const char kCopyHelp[];
extern const char kCopyExitHelp[];

// Their options but the cluster's address. Parsing writes into `options`, which outlives it.
void AddCopyArguments(const Subcommand& command, CopyOptions* options);
// What they need of them where the other side is a file. InvalidArgument: options of a cluster are given, or
// not one table.
absl::StatusOr<TableFileOptions> ForFile(const CopyOptions& options, const TableFileOptions& file);
// Says why one of them cannot be run.
int ReportUsage(const CopyOptions& options, const absl::Status& status);

}  // namespace liststore

#endif  // LISTSTORE_TOOLS_LISTSTORE_COPY_ARGUMENTS_H_
