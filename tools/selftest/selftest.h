// `liststore selftest`: whether the program works on this machine.
#ifndef LISTSTORE_TOOLS_SELFTEST_SELFTEST_H_
#define LISTSTORE_TOOLS_SELFTEST_SELFTEST_H_

#include <string>
#include <vector>

#include "tools/selftest/check.h"

namespace liststore {

// One line, with a line feed behind it.
std::string SelfTestJson(const std::vector<Check>& checks, double seconds);

// Prints a line for each check, or one of JSON for all. Returns the exit status: kExitSame, or kExitDifferent when
// one has failed.
int RunSelfTest(bool json);

}  // namespace liststore

#endif  // LISTSTORE_TOOLS_SELFTEST_SELFTEST_H_
