// A server in this process, and whether it does what it is for.
#ifndef LISTSTORE_TOOLS_SELFTEST_SERVER_CHECKS_H_
#define LISTSTORE_TOOLS_SELFTEST_SERVER_CHECKS_H_

#include <string>
#include <vector>

#include "tools/selftest/check.h"

namespace liststore {

// A check for each thing that it does, in the order of a user's first steps: it starts on a free port of the
// loopback, makes a keyspace and a table, writes, reads, expires by a clock that is moved, answers by an index,
// connects over TLS, and has what was written when it starts again from a directory, which is made in `folder` and
// goes with the call. What cannot be tried because something before it failed is left out. Takes some tenths of a
// second and about 100 MiB.
std::vector<Check> CheckServer(const std::string& folder);

}  // namespace liststore

#endif  // LISTSTORE_TOOLS_SELFTEST_SERVER_CHECKS_H_
