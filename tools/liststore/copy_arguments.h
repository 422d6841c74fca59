// What `liststore export` and `liststore import` have in common on the command line.
#ifndef LISTSTORE_TOOLS_LISTSTORE_COPY_ARGUMENTS_H_
#define LISTSTORE_TOOLS_LISTSTORE_COPY_ARGUMENTS_H_

#include "programs/console/command_line.h"
#include "tools/copy/copy.h"

namespace liststore {

// What their help says about replication and about what CQL cannot tell, and about the exit status.
extern const char kCopyHelp[];
extern const char kCopyExitHelp[];

// Their options but the cluster's address. Parsing writes into `options`, which outlives it.
void AddCopyArguments(const Subcommand& command, CopyOptions* options);

}  // namespace liststore

#endif  // LISTSTORE_TOOLS_LISTSTORE_COPY_ARGUMENTS_H_
