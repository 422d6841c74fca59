// How the commands are told to connect to a server over TLS.
#ifndef LISTSTORE_TOOLS_LISTSTORE_TLS_ARGUMENTS_H_
#define LISTSTORE_TOOLS_LISTSTORE_TLS_ARGUMENTS_H_

#include <string>

#include "programs/client/client_tls.h"
#include "programs/console/command_line.h"

namespace liststore {

// --tls, --tls-ca, --tls-certificate, --tls-key and --tls-insecure; with a `prefix` "via-" --via-tls and
// so on. `server` is whom help names: "that server". Parsing writes into `tls`, which outlives it.
void AddTlsArguments(const Subcommand& command, const std::string& prefix,
                     const std::string& server, ClientTlsOptions* tls);

}  // namespace liststore

#endif  // LISTSTORE_TOOLS_LISTSTORE_TLS_ARGUMENTS_H_
