// What a server would find on this machine.
#ifndef LISTSTORE_TOOLS_SELFTEST_MACHINE_CHECKS_H_
#define LISTSTORE_TOOLS_SELFTEST_MACHINE_CHECKS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tools/selftest/check.h"

namespace liststore {

// What is known of the machine. What the system does not tell is 0 or empty.
struct ServerMachine {
  uint32_t cores = 0;         // that this process may use
  uint64_t memory_bytes = 0;  // the same
  uint64_t files_now = 0;     // that may be open
  uint64_t files_max = 0;     // to which the process itself may raise it
  std::string huge_pages;     // transparent ones: "always", "madvise", "never"
  std::string clock_source;   // "tsc"
  double clock_nanos = 0;     // what a reading of the time takes
};

// Asks the system. Takes about a millisecond.
ServerMachine ReadServerMachine();
// Judges them, a check each.
std::vector<Check> CheckMachine(const ServerMachine& facts);

}  // namespace liststore

#endif  // LISTSTORE_TOOLS_SELFTEST_MACHINE_CHECKS_H_
