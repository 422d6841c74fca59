// `liststore selftest` on the command line.
#ifndef LISTSTORE_TOOLS_LISTSTORE_SELFTEST_COMMAND_H_
#define LISTSTORE_TOOLS_LISTSTORE_SELFTEST_COMMAND_H_

#include "programs/console/command_line.h"

namespace liststore {

void AddSelfTestCommand(const Subcommand& program);

}  // namespace liststore

#endif  // LISTSTORE_TOOLS_LISTSTORE_SELFTEST_COMMAND_H_
