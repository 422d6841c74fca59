#include "tools/selftest/machine_checks.h"

#include <sys/resource.h>

#include <chrono>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "bench/measure/machine.h"
#include "engine/base/machine_limits.h"
#include "liststore/clock.h"
#include "programs/console/text.h"

namespace liststore {
namespace {

// What a server of many clients wants; and a reading through the kernel, which takes as long, is one too many for
// each request.
constexpr uint64_t kManyFiles = 4096;
constexpr double kSlowClockNanos = 250;

std::string FirstWord(const char* path) {
  std::ifstream file(path);
  std::string word;
  file >> word;
  return word;
}

// The least of several rounds: others run too.
double NanosOfAReading() {
  constexpr int kReadings = 200;
  double least = 0;
  for (int round = 0; round < 5; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < kReadings; ++i) static_cast<void>(SystemClock::Instance().NowNanos());
    const std::chrono::duration<double, std::nano> all = std::chrono::steady_clock::now() - begin;
    const double nanos = all.count() / kReadings;
    if (round == 0 || nanos < least) least = nanos;
  }
  return least;
}

Check CheckCores(uint32_t cores) {
  return {.name = "cores",
          .found = absl::StrCat(cores, cores == 1 ? ": one shard" : ": 'serve --shards N' up to ",
                                cores == 1 ? "" : absl::StrCat(cores))};
}

Check CheckMemory(uint64_t bytes) {
  if (bytes == 0) {
    return {.name = "memory",
            .outcome = CheckOutcome::kNote,
            .found = "this machine does not say how much there is",
            .advice = "say how much a server may take: liststore serve --memory-limit 4G"};
  }
  return {.name = "memory",
          .found = Bytes(bytes) + ", of which a server takes " +
                   Bytes(DefaultMemoryLimitBytes(bytes)) + " unless --memory-limit says otherwise"};
}

Check CheckFiles(uint64_t now, uint64_t most) {
  Check check = {.name = "open files", .found = Grouped(most) + " for each process"};
  if (most == 0) check.found = "no limit";
  if (most != now && most != 0) check.found += " (" + Grouped(now) + " until a server raises it)";
  if (most != 0 && most < kManyFiles) {
    check.outcome = CheckOutcome::kNote;
    check.advice =
        "each connection is one: raise the limit with 'ulimit -Hn 65536' as root, or "
        "LimitNOFILE= of systemd, where more clients connect";
  }
  return check;
}

Check CheckHugePages(const std::string& setting) {
  if (setting == "always" || setting == "madvise") {
    return {.name = "huge pages", .found = setting + ": data lies in pages of 2 MiB"};
  }
  return {.name = "huge pages",
          .outcome = CheckOutcome::kNote,
          .found = setting.empty() ? "this kernel has none" : setting,
          .advice =
              "reads of much data are slower without: as root 'echo madvise > "
              "/sys/kernel/mm/transparent_hugepage/enabled'"};
}

Check CheckClock(const std::string& source, double nanos) {
  Check check = {.name = "clock",
                 .found = absl::StrFormat("%s, %.0f ns a reading",
                                          source.empty() ? "source not known" : source, nanos)};
  if (nanos > kSlowClockNanos) {
    check.outcome = CheckOutcome::kNote;
    check.advice =
        "each request reads the time: a source that needs no system call, as tsc or "
        "kvm-clock, is faster (current_clocksource below "
        "/sys/devices/system/clocksource/clocksource0)";
  }
  return check;
}

}  // namespace

ServerMachine ReadServerMachine() {
  const MachineLimits limits = ReadMachineLimits();
  ServerMachine facts;
  facts.cores = limits.cores;
  facts.memory_bytes = limits.memory_bytes;
  rlimit files = {};
  if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
    facts.files_now = files.rlim_cur == RLIM_INFINITY ? 0 : files.rlim_cur;
    facts.files_max = files.rlim_max == RLIM_INFINITY ? 0 : files.rlim_max;
  }
  facts.huge_pages = ReadMachineFacts().huge_pages;
  facts.clock_source =
      FirstWord("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  facts.clock_nanos = NanosOfAReading();
  return facts;
}

std::vector<Check> CheckMachine(const ServerMachine& facts) {
  return {CheckCores(facts.cores), CheckMemory(facts.memory_bytes),
          CheckFiles(facts.files_now, facts.files_max), CheckHugePages(facts.huge_pages),
          CheckClock(facts.clock_source, facts.clock_nanos)};
}

}  // namespace liststore
