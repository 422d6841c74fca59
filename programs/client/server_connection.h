// How the commands that ask a server find it and log in.
#ifndef LISTSTORE_PROGRAMS_CLIENT_SERVER_CONNECTION_H_
#define LISTSTORE_PROGRAMS_CLIENT_SERVER_CONNECTION_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "programs/client/client_tls.h"
#include "programs/client/cql_client.h"

namespace liststore {

struct ServerConnection {
  // HOST or HOST:PORT, [IPV6]:PORT for addresses with colons. Empty: 127.0.0.1.
  std::string address = {};
  // Where the address has none.
  uint16_t port = 9042;
  CqlCredentials credentials = {};
  ClientTlsOptions tls = {};
};

// The whole address, as CqlClient::Connect takes it. What is none comes back as it is.
std::string AddressOf(const ServerConnection& connection);

// Statuses are those of CqlClient::Connect; where nothing can be reached the message says how
// to start a server or to name another, and where a name is wanted by which options it is given:
// those of the command begin with `prefix`, "via-" of --via-user.
absl::StatusOr<std::unique_ptr<CqlClient>> ConnectTo(const ServerConnection& connection,
                                                     std::string_view prefix = {});

}  // namespace liststore

#endif  // LISTSTORE_PROGRAMS_CLIENT_SERVER_CONNECTION_H_
