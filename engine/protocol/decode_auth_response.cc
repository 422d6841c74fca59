#include "engine/protocol/decode.h"

namespace liststore::protocol {

// <token: bytes>
void DecodeAuthResponse(BodyReader& body, DecodeContext&, AuthResponse& response) {
  response.token = body.ReadBytes();
}

PlainCredentials ParsePlainToken(std::string_view token) {
  PlainCredentials credentials;
  for (size_t nul = token.rfind('\0'); nul != std::string_view::npos; nul = token.rfind('\0')) {
    const std::string_view part = token.substr(nul + 1);
    token = token.substr(0, nul);
    if (credentials.password.empty()) {
      credentials.password = part;
    } else if (credentials.user.empty()) {
      credentials.user = part;
    }
  }
  return credentials;
}

}  // namespace liststore::protocol
