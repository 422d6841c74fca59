#include "programs/client/server_connection.h"

#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "engine/base/strings.h"
#include "programs/console/host_port.h"

namespace liststore {

std::string AddressOf(const ServerConnection& connection) {
  const std::string& given = connection.address;
  const std::optional<HostPort> parsed = ParseHostPort(given.empty() ? "127.0.0.1" : given);
  if (!parsed) return given;
  return HostPortText(parsed->host, parsed->port.value_or(connection.port));
}

absl::StatusOr<std::unique_ptr<CqlClient>> ConnectTo(const ServerConnection& connection,
                                                     std::string_view prefix) {
  auto client = CqlClient::Connect(AddressOf(connection), connection.credentials, connection.tls);
  if (client.ok()) return client;
  const absl::Status& status = client.status();
  if (absl::IsUnavailable(status)) {
    return absl::UnavailableError(
        absl::StrCat(status.message(),
                     "; start a server with 'liststore serve', or name another with --via "
                     "HOST:PORT or in the environment variable LISTSTORE_ADDRESS"));
  }
  if (absl::IsUnauthenticated(status) && connection.credentials.user.empty()) {
    return absl::UnauthenticatedError(absl::StrCat(
        status.message(), "; give --", ToAbsl(prefix),
        "user NAME, and its password in the environment variable LISTSTORE_",
        absl::AsciiStrToUpper(absl::StrReplaceAll(ToAbsl(prefix), {{"-", "_"}})), "PASSWORD"));
  }
  return client;
}

}  // namespace liststore
