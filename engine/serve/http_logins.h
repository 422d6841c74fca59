// Logging in over HTTP: the roles of CQL, and what makes guessing slow for both together.
#ifndef LISTSTORE_ENGINE_SERVE_HTTP_LOGINS_H_
#define LISTSTORE_ENGINE_SERVE_HTTP_LOGINS_H_

#include "engine/faces/cql/login_guard.h"
#include "engine/faces/http/session.h"
#include "engine/roles/authenticator.h"

namespace liststore {

// Both outlive what is returned, which is called by threads beside the loops: a password may be hashed.
http_face::LogIn LoginsOfHttp(cql_face::LoginGuard& guard, roles::Authenticator& authenticator);

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_SERVE_HTTP_LOGINS_H_
