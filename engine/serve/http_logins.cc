#include "engine/serve/http_logins.h"

#include <chrono>
#include <string>
#include <utility>

namespace liststore {

http_face::LogIn LoginsOfHttp(cql_face::LoginGuard& guard, roles::Authenticator& authenticator) {
  return [&guard, &authenticator](const std::string& address, const std::string& user,
                                  const std::string& password) {
    http_face::LoginResult result;
    // An attempt over CQL waits there; over HTTP it is sent away, and comes again.
    result.wait = guard.WaitOf(address, std::chrono::steady_clock::now());
    if (result.wait.count() > 0) return result;
    // Those of an empty name or password are refused by the authenticator as well.
    result.refusal = authenticator.LogIn(user, password);
    if (result.refusal) {
      guard.NoteFailure(address, std::chrono::steady_clock::now());
    } else {
      guard.NoteSuccess(address);
    }
    return result;
  };
}

}  // namespace liststore
