// `liststore top` on the command line.
#ifndef LISTSTORE_TOOLS_LISTSTORE_TOP_COMMAND_H_
#define LISTSTORE_TOOLS_LISTSTORE_TOP_COMMAND_H_

#include "programs/console/command_line.h"

namespace liststore {

void AddTopCommand(const Subcommand& program);

}  // namespace liststore

#endif  // LISTSTORE_TOOLS_LISTSTORE_TOP_COMMAND_H_
