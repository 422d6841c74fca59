// What the programs of kill rounds are told, and what they say while they run.
#ifndef LISTSTORE_TESTS_SUPPORT_KILL_OPTIONS_H_
#define LISTSTORE_TESTS_SUPPORT_KILL_OPTIONS_H_

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace liststore::testing {

struct KillOptions {
  int rounds = 20;
  uint64_t seed =
      static_cast<uint64_t>(std::chrono::system_clock::now().time_since_epoch().count() / 1000);
  std::string directory;  // empty: one that goes at the end
  std::string mode;       // empty: another one in each round
};

// Ends the process with status 2 and the usage where an argument is not one of them.
inline KillOptions ReadKillOptions(int argc, char** argv) {
  KillOptions options;
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i];
    const std::string value = i + 1 < argc ? argv[i + 1] : "";
    char* end = nullptr;
    bool is_right = !value.empty();
    if (name == "--rounds") {
      options.rounds = static_cast<int>(std::strtol(value.c_str(), &end, 10));
      is_right = is_right && *end == '\0' && options.rounds > 0;
    } else if (name == "--seed") {
      options.seed = std::strtoull(value.c_str(), &end, 10);
      is_right = is_right && *end == '\0';
    } else if (name == "--dir") {
      options.directory = value;
    } else if (name == "--mode") {
      options.mode = value;
      is_right = value == "os" || value == "periodic" || value == "sync";
    } else {
      is_right = false;
    }
    if (!is_right) {
      std::fprintf(
          stderr,
          "%s %s\nusage: %s [--rounds N] [--seed N] [--dir DIR] [--mode os|periodic|sync]\n",
          name.c_str(), value.c_str(), argv[0]);
      std::exit(2);
    }
  }
  std::printf("seed=%llu\n", static_cast<unsigned long long>(options.seed));
  std::fflush(stdout);
  return options;
}

// A line every half minute: an hour of rounds is not to look like one that hangs.
class KillProgress {
 public:
  void Done(int round, int rounds) {
    const auto now = std::chrono::steady_clock::now();
    if (now - said_ < std::chrono::seconds(30)) return;
    said_ = now;
    std::printf("%d of %d rounds\n", round, rounds);
    std::fflush(stdout);
  }

 private:
  std::chrono::steady_clock::time_point said_ = std::chrono::steady_clock::now();
};

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_SUPPORT_KILL_OPTIONS_H_
