#include "engine/protocol/decode.h"

namespace liststore::protocol {

// <token: bytes>
void DecodeAuthResponse(BodyReader& body, DecodeContext&, AuthResponse& response) {
  response.token = body.ReadBytes();
}

std::optional<PlainCredentials> ParsePlainToken(std::string_view token) {
  const size_t user = token.find('\0');
  if (user == std::string_view::npos) return std::nullopt;
  const size_t password = token.find('\0', user + 1);
  if (password == std::string_view::npos) return std::nullopt;
  const PlainCredentials credentials = {token.substr(user + 1, password - user - 1),
                                        token.substr(password + 1)};
  if (credentials.password.find('\0') != std::string_view::npos) return std::nullopt;
  return credentials;
}

}  // namespace liststore::protocol
