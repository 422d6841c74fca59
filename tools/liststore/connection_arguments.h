// How the commands that ask a running server are told where it is and who asks.
#ifndef LISTSTORE_TOOLS_LISTSTORE_CONNECTION_ARGUMENTS_H_
#define LISTSTORE_TOOLS_LISTSTORE_CONNECTION_ARGUMENTS_H_

#include <string>

#include "programs/client/server_connection.h"
#include "programs/console/command_line.h"

namespace liststore {

// What their help says about the address.
extern const char kServerHelp[];
// The same, and the exit status.
extern const std::string kConnectionHelp;

// --via, which may come from LISTSTORE_ADDRESS, and the port of LISTSTORE_CQL_PORT where the address has none.
// `text` is its line of help. Parsing writes into `server`, which outlives it.
void AddServerArgument(const Subcommand& command, const std::string& text,
                       ServerConnection* server);

// The same, --user, --password and those of TLS.
void AddConnectionArguments(const Subcommand& command, ServerConnection* server);

}  // namespace liststore

#endif  // LISTSTORE_TOOLS_LISTSTORE_CONNECTION_ARGUMENTS_H_
