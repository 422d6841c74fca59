// What one of the checks of `liststore selftest` has found.
#ifndef LISTSTORE_TOOLS_SELFTEST_CHECK_H_
#define LISTSTORE_TOOLS_SELFTEST_CHECK_H_

#include <cstdint>
#include <string>

namespace liststore {

enum class CheckOutcome : uint8_t {
  kOk,
  kNote,    // works, and could be better
  kFailed,  // does not work on this machine
};

struct Check {
  std::string name;
  CheckOutcome outcome = CheckOutcome::kOk;
  std::string found;
  // What to do next; empty when it is kOk.
  std::string advice = {};
};

}  // namespace liststore

#endif  // LISTSTORE_TOOLS_SELFTEST_CHECK_H_
