// What this process may use of the machine: cores and memory, as its control group, its CPU mask
// and the hardware allow. Containers see the host's /proc/meminfo and all of its cores; only the
// control group knows what they were given.
#ifndef LISTSTORE_ENGINE_BASE_MACHINE_LIMITS_H_
#define LISTSTORE_ENGINE_BASE_MACHINE_LIMITS_H_

#include <cstdint>
#include <string>

namespace liststore {

struct MachineLimits {
  uint32_t cores = 1;         // at least 1; a quota of 1.5 cores counts as 2
  uint64_t memory_bytes = 0;  // 0: unknown
};

// What to look for: each costs files that are opened, and programs start more often than they run
// long.
struct WantedLimits {
  bool cores = true;
  bool memory = true;
};

// Reads the limits of the calling process: two files, and one or two for each ancestor of its
// control group and each limit that is wanted. What is not wanted has its default. Thread-safe.
MachineLimits ReadMachineLimits(WantedLimits wanted = {});

// The same from the files below `root` ("" for the real ones): proc/meminfo, proc/self/cgroup and
// sys/fs/cgroup, version 2, version 1 and both at once. `cores_allowed` is the size of the CPU
// mask. A limit set on any ancestor of the process's group counts. Groups that proc/self/cgroup
// names but that are not mounted (a container sees only its own subtree, as the root) are passed
// over.
MachineLimits ReadMachineLimitsBelow(const std::string& root, uint32_t cores_allowed,
                                     WantedLimits wanted = {});

// Less than that no store and no server is limited to.
inline constexpr uint64_t kMemoryLimitBytesMin = uint64_t{1} << 20;

// What a store or a server may take where nobody says: three quarters of this memory, which is
// known.
uint64_t DefaultMemoryLimitBytes(uint64_t memory_bytes);

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_BASE_MACHINE_LIMITS_H_
