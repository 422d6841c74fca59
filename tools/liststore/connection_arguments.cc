#include "tools/liststore/connection_arguments.h"

#include <cstdlib>
#include <string>

#include "absl/strings/numbers.h"
#include "tools/liststore/tls_arguments.h"

namespace liststore {

const char kServerHelp[] =
    R"(
The server is the one of --via, else of the environment variable LISTSTORE_ADDRESS, else 127.0.0.1. Where that
has no port it is that of LISTSTORE_CQL_PORT, else 9042: what 'liststore serve' takes from the same variables.
)";

const std::string kConnectionHelp = std::string(kServerHelp) + R"(
Exit status: 0 done; 2 wrong usage, a server that cannot be asked, or that refuses: its words and code
are on standard error.)";

void AddServerArgument(const Subcommand& command, const std::string& text,
                       ServerConnection* server) {
  command.Option("--via", &server->address, text + " [127.0.0.1:9042]")
      .Value("HOST[:PORT]")
      .FromEnvironment("LISTSTORE_ADDRESS");
  uint32_t port = 0;
  const char* const variable = std::getenv("LISTSTORE_CQL_PORT");
  if (variable != nullptr && absl::SimpleAtoi(variable, &port) && port > 0 && port <= 0xffff) {
    server->port = static_cast<uint16_t>(port);
  }
}

void AddConnectionArguments(const Subcommand& command, ServerConnection* server) {
  AddServerArgument(command, "The server", server);
  command.Option("--user", &server->credentials.user, "Name to log in with").Value("NAME");
  command
      .Option("--password", &server->credentials.password,
              "Its password; better in the environment, which nobody else sees")
      .Value("TEXT")
      .FromEnvironment("LISTSTORE_PASSWORD");
  AddTlsArguments(command, "", "it", &server->tls);
}

}  // namespace liststore
