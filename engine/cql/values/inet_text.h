// Addresses of the internet protocols as text, without the system's resolver: a literal is not a
// name to look up.
#ifndef LISTSTORE_ENGINE_CQL_VALUES_INET_TEXT_H_
#define LISTSTORE_ENGINE_CQL_VALUES_INET_TEXT_H_

#include <optional>
#include <string>
#include <string_view>

namespace liststore::cql {

// 4 or 16 bytes, in the order of the text. Of IPv6 all forms of RFC 4291, section 2.2.
std::optional<std::string> ParseInet(std::string_view text);
// Of 4 or 16 bytes. IPv6 as RFC 5952 recommends: lower case, the longest run of zeros as "::".
std::string PrintInet(std::string_view bytes);

}  // namespace liststore::cql

#endif  // LISTSTORE_ENGINE_CQL_VALUES_INET_TEXT_H_
