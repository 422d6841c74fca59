#include "engine/base/machine_limits.h"

#include <sched.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

namespace liststore {
namespace {

constexpr uint64_t kUnlimited = std::numeric_limits<uint64_t>::max();

// Limits found so far; each file can only lower them.
struct Limits {
  uint64_t cores = kUnlimited;
  uint64_t memory_bytes = kUnlimited;
};

// The two leading numbers of a file; nullopt for what is no number ("max", "-1") or not there.
struct Numbers {
  std::optional<uint64_t> first;
  std::optional<uint64_t> second;
};

std::optional<uint64_t> ParseNumber(std::string_view word) {
  if (word.empty() || word.size() > 19) return std::nullopt;
  uint64_t number = 0;
  for (const char c : word) {
    if (c < '0' || c > '9') return std::nullopt;
    number = number * 10 + static_cast<uint64_t>(c - '0');
  }
  return number;
}

Numbers ReadNumbers(const std::string& path) {
  std::ifstream file(path);
  std::string first;
  std::string second;
  file >> first >> second;
  return {ParseNumber(first), ParseNumber(second)};
}

void LowerCores(std::optional<uint64_t> quota, std::optional<uint64_t> period, Limits& limits) {
  if (!quota || !period || *quota == 0 || *period == 0) return;
  const uint64_t cores = *quota / *period + (*quota % *period != 0 ? 1 : 0);
  limits.cores = std::min(limits.cores, cores);
}

// 0 would leave nothing to start with; no kernel accepts it for a group that runs a process.
void LowerMemory(std::optional<uint64_t> bytes, Limits& limits) {
  if (bytes && *bytes != 0) limits.memory_bytes = std::min(limits.memory_bytes, *bytes);
}

// Calls `visit` with the directory of `group` below `mount` and of each of its ancestors.
template <typename Visitor>
void ForEachAncestor(const std::string& mount, std::string group, Visitor&& visit) {
  while (!group.empty() && group != "/") {
    visit(mount + group);
    group.erase(group.rfind('/'));
  }
  visit(mount);
}

// Version 2: one tree for all controllers; "unified" is its place where version 1 is mounted as
// well.
void ReadVersion2(const std::string& mounts, const std::string& group, WantedLimits wanted,
                  Limits& limits) {
  for (const std::string& mount : {mounts, mounts + "/unified"}) {
    ForEachAncestor(mount, group, [&](const std::string& directory) {
      if (wanted.cores) {
        const Numbers cpu = ReadNumbers(directory + "/cpu.max");
        LowerCores(cpu.first, cpu.second, limits);
      }
      if (wanted.memory) LowerMemory(ReadNumbers(directory + "/memory.max").first, limits);
    });
  }
}

// Whether `name` is one of "cpu,cpuacct".
bool IsAmong(std::string_view name, std::string_view controllers) {
  while (!controllers.empty()) {
    const size_t comma = std::min(controllers.find(','), controllers.size());
    if (controllers.substr(0, comma) == name) return true;
    controllers.remove_prefix(std::min(comma + 1, controllers.size()));
  }
  return false;
}

// Version 1: a tree for each set of controllers, mounted under the set's name ("cpu,cpuacct").
void ReadVersion1(const std::string& mounts, const std::string& controllers,
                  const std::string& group, WantedLimits wanted, Limits& limits) {
  wanted.cores &= IsAmong("cpu", controllers);
  wanted.memory &= IsAmong("memory", controllers);
  if (!wanted.cores && !wanted.memory) return;
  ForEachAncestor(mounts + "/" + controllers, group, [&](const std::string& directory) {
    if (wanted.cores) {
      LowerCores(ReadNumbers(directory + "/cpu.cfs_quota_us").first,
                 ReadNumbers(directory + "/cpu.cfs_period_us").first, limits);
    }
    if (wanted.memory) {
      LowerMemory(ReadNumbers(directory + "/memory.limit_in_bytes").first, limits);
    }
  });
}

// Lines are "number:controllers:/group"; version 2's has number 0 and no controllers.
void ReadControlGroups(const std::string& root, WantedLimits wanted, Limits& limits) {
  const std::string mounts = root + "/sys/fs/cgroup";
  std::ifstream file(root + "/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const size_t first = line.find(':');
    if (first == std::string::npos) continue;
    const size_t second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string group = line.substr(second + 1);
    if (group.empty() || group.front() != '/') continue;
    if (controllers.empty()) {
      ReadVersion2(mounts, group, wanted, limits);
    } else {
      ReadVersion1(mounts, controllers, group, wanted, limits);
    }
  }
}

std::optional<uint64_t> ReadMemTotal(const std::string& root) {
  std::ifstream file(root + "/proc/meminfo");
  for (std::string word; file >> word;) {
    if (word != "MemTotal:") continue;
    file >> word;
    const std::optional<uint64_t> kibibytes = ParseNumber(word);
    if (kibibytes && *kibibytes < (uint64_t{1} << 50)) return *kibibytes * 1024;
    return std::nullopt;
  }
  return std::nullopt;
}

uint32_t CoresOfMask() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  // Fails on machines of more than CPU_SETSIZE cores.
  if (sched_getaffinity(0, sizeof(mask), &mask) == 0)
    return static_cast<uint32_t>(CPU_COUNT(&mask));
  return std::thread::hardware_concurrency();
}

}  // namespace

MachineLimits ReadMachineLimits(WantedLimits wanted) {
  return ReadMachineLimitsBelow("", wanted.cores ? CoresOfMask() : 1, wanted);
}

MachineLimits ReadMachineLimitsBelow(const std::string& root, uint32_t cores_allowed,
                                     WantedLimits wanted) {
  Limits limits;
  if (wanted.cores || wanted.memory) ReadControlGroups(root, wanted, limits);
  if (wanted.memory) LowerMemory(ReadMemTotal(root), limits);
  const uint64_t cores = std::min<uint64_t>(limits.cores, cores_allowed);
  return {.cores = static_cast<uint32_t>(std::max<uint64_t>(cores, 1)),
          .memory_bytes = limits.memory_bytes == kUnlimited ? 0 : limits.memory_bytes};
}

uint64_t DefaultMemoryLimitBytes(uint64_t memory_bytes) {
  return std::max(memory_bytes / 4 * 3, kMemoryLimitBytesMin);
}

}  // namespace liststore
