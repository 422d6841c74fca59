// What `liststore --version` says.
#ifndef LISTSTORE_TOOLS_LISTSTORE_VERSION_TEXT_H_
#define LISTSTORE_TOOLS_LISTSTORE_VERSION_TEXT_H_

#include <string>

namespace liststore {

// The program's version in the first line. In the second, what a report of a bug, or of a vulnerability, has to name:
// "OpenSSL 3.0.19 27 Jan 2026, Abseil 20220623, glibc 2.36, linked statically".
std::string VersionText();

}  // namespace liststore

#endif  // LISTSTORE_TOOLS_LISTSTORE_VERSION_TEXT_H_
