// The page of the HTTP port, for people: what the server does, and the controls of its instruments. It is
// made of the folder page/, and knows nothing but what the API answers to whoever looks at it.
#ifndef LISTSTORE_ENGINE_FACES_HTTP_PAGE_H_
#define LISTSTORE_ENGINE_FACES_HTTP_PAGE_H_

#include <string_view>

#include "engine/faces/http/resource.h"

namespace liststore::http_face {

// One document of HTML, in ASCII, that loads nothing.
extern const std::string_view kPageHtml;
// "sha256-..." of its style and of its script, as Content-Security-Policy has them.
extern const std::string_view kPageStyleHash;
extern const std::string_view kPageScriptHash;
// Of all of it, in hexadecimal.
extern const std::string_view kPageHash;

// GET /. Where clients log in, browsers ask their users for a name and a password.
Resource PageResource();

}  // namespace liststore::http_face

#endif  // LISTSTORE_ENGINE_FACES_HTTP_PAGE_H_
