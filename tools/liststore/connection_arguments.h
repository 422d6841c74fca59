// How the commands that ask a running server are told where it is and who asks.
#ifndef LISTSTORE_TOOLS_LISTSTORE_CONNECTION_ARGUMENTS_H_
#define LISTSTORE_TOOLS_LISTSTORE_CONNECTION_ARGUMENTS_H_

#include "programs/client/server_connection.h"
#include "programs/console/command_line.h"

namespace liststore {

// What their help says about the address and the exit status.
extern const char kConnectionHelp[];

// --via, which may come from LISTSTORE_ADDRESS, --user, --password and those of TLS. The port is that of
// LISTSTORE_CQL_PORT where the address has none. Parsing writes into `server`, which outlives it.
void AddConnectionArguments(const Subcommand& command, ServerConnection* server);

}  // namespace liststore

#endif  // LISTSTORE_TOOLS_LISTSTORE_CONNECTION_ARGUMENTS_H_
