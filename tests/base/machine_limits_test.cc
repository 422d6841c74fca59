#include "engine/base/machine_limits.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace liststore {
namespace machine_limits_test {

using Files = std::vector<std::pair<std::string, std::string>>;

constexpr uint64_t kGiB = uint64_t{1} << 30;

// A root directory with some files in it, gone with the object.
class FakeRoot {
 public:
  explicit FakeRoot(const Files& files) {
    std::string pattern = ::testing::TempDir() + "machine_limits_XXXXXX";
    EXPECT_NE(mkdtemp(pattern.data()), nullptr);
    path_ = pattern;
    for (const auto& [name, content] : files) {
      const std::filesystem::path file = path_ / name;
      std::filesystem::create_directories(file.parent_path());
      std::ofstream(file) << content;
    }
  }
  ~FakeRoot() { std::filesystem::remove_all(path_); }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

struct Case {
  const char* rule;
  Files files;
  uint32_t cores_allowed;
  uint32_t cores;
  uint64_t memory_bytes;
};

const char kMeminfo16GiB[] = "MemTotal:       16777216 kB\nMemFree:        1 kB\n";

std::vector<Case> Cases() {
  return {
      {"nothing is known: the mask counts, memory is unknown", {}, 4, 4, 0},
      {"a mask of nothing still leaves one core", {}, 0, 1, 0},
      {"no control group: what the machine has",
       {{"proc/meminfo", kMeminfo16GiB}},
       8,
       8,
       16 * kGiB},
      {"version 2: the group's limits",
       {{"proc/meminfo", kMeminfo16GiB},
        {"proc/self/cgroup", "0::/a/b\n"},
        {"sys/fs/cgroup/a/b/cpu.max", "200000 100000\n"},
        {"sys/fs/cgroup/a/b/memory.max", "1073741824\n"}},
       8,
       2,
       kGiB},
      {"version 2: max is no limit",
       {{"proc/meminfo", kMeminfo16GiB},
        {"proc/self/cgroup", "0::/a\n"},
        {"sys/fs/cgroup/a/cpu.max", "max 100000\n"},
        {"sys/fs/cgroup/a/memory.max", "max\n"}},
       8,
       8,
       16 * kGiB},
      {"version 2: an ancestor's lower limit counts",
       {{"proc/self/cgroup", "0::/a/b/c\n"},
        {"sys/fs/cgroup/a/b/c/memory.max", "4294967296\n"},
        {"sys/fs/cgroup/a/b/memory.max", "max\n"},
        {"sys/fs/cgroup/a/memory.max", "2147483648\n"},
        {"sys/fs/cgroup/a/cpu.max", "300000 100000\n"}},
       8,
       3,
       2 * kGiB},
      {"version 2: a part of a core counts as one",
       {{"proc/self/cgroup", "0::/\n"}, {"sys/fs/cgroup/cpu.max", "150000 100000\n"}},
       8,
       2,
       0},
      {"version 2: less than a core is one",
       {{"proc/self/cgroup", "0::/\n"}, {"sys/fs/cgroup/cpu.max", "5000 100000\n"}},
       8,
       1,
       0},
      {"version 2 in a container: the group is not mounted, its subtree is the root",
       {{"proc/self/cgroup", "0::/docker/0123\n"},
        {"sys/fs/cgroup/cpu.max", "100000 100000\n"},
        {"sys/fs/cgroup/memory.max", "1073741824\n"}},
       8,
       1,
       kGiB},
      {"a quota above the mask does not add cores",
       {{"proc/self/cgroup", "0::/\n"}, {"sys/fs/cgroup/cpu.max", "800000 100000\n"}},
       2,
       2,
       0},
      {"a limit above the machine's memory does not add memory",
       {{"proc/meminfo", kMeminfo16GiB},
        {"proc/self/cgroup", "0::/\n"},
        {"sys/fs/cgroup/memory.max", "1099511627776\n"}},
       1,
       1,
       16 * kGiB},
      {"version 1: controllers have trees of their own",
       {{"proc/meminfo", kMeminfo16GiB},
        {"proc/self/cgroup", "4:memory:/job\n3:cpu,cpuacct:/job\n1:name=systemd:/x\n"},
        {"sys/fs/cgroup/memory/job/memory.limit_in_bytes", "1073741824\n"},
        {"sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "250000\n"},
        {"sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n"}},
       8,
       3,
       kGiB},
      {"version 1: -1 and the largest page count are no limits",
       {{"proc/meminfo", kMeminfo16GiB},
        {"proc/self/cgroup", "4:memory:/\n3:cpu:/\n"},
        {"sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"},
        {"sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n"},
        {"sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"}},
       8,
       8,
       16 * kGiB},
      {"both at once: version 2 is mounted as unified, the lower limit counts",
       {{"proc/self/cgroup", "4:memory:/job\n0::/unit\n"},
        {"sys/fs/cgroup/memory/job/memory.limit_in_bytes", "2147483648\n"},
        {"sys/fs/cgroup/unified/unit/memory.max", "1073741824\n"}},
       8,
       8,
       kGiB},
      {"lines and numbers that make no sense are passed over",
       {{"proc/meminfo", "MemTotal: lots\n"},
        {"proc/self/cgroup", "\n:\nx\n0::relative\n0::/\n"},
        {"sys/fs/cgroup/cpu.max", "100000 0\n"},
        {"sys/fs/cgroup/memory.max", "12three\n"}},
       4,
       4,
       0},
  };
}

TEST(MachineLimitsTest, EachRule) {
  for (const Case& c : Cases()) {
    const FakeRoot root(c.files);
    const MachineLimits limits = ReadMachineLimitsBelow(root.path(), c.cores_allowed);
    EXPECT_EQ(limits.cores, c.cores) << c.rule;
    EXPECT_EQ(limits.memory_bytes, c.memory_bytes) << c.rule;
    // One without the other.
    const MachineLimits cores =
        ReadMachineLimitsBelow(root.path(), c.cores_allowed, {.cores = true, .memory = false});
    EXPECT_EQ(cores.cores, c.cores) << c.rule;
    EXPECT_EQ(cores.memory_bytes, 0u) << c.rule;
    const MachineLimits memory =
        ReadMachineLimitsBelow(root.path(), 1, {.cores = false, .memory = true});
    EXPECT_EQ(memory.cores, 1u) << c.rule;
    EXPECT_EQ(memory.memory_bytes, c.memory_bytes) << c.rule;
  }
}

TEST(MachineLimitsTest, ThisMachineHasACoreAndMemory) {
  const MachineLimits limits = ReadMachineLimits();
  EXPECT_GE(limits.cores, 1u);
  EXPECT_GT(limits.memory_bytes, uint64_t{1} << 20);
}

TEST(MachineLimitsTest, TheDefaultLimitOfMemoryIsThreeQuarters) {
  EXPECT_EQ(DefaultMemoryLimitBytes(uint64_t{8} << 30), uint64_t{6} << 30);
  EXPECT_EQ(DefaultMemoryLimitBytes(uint64_t{8} << 30 | 7), (uint64_t{6} << 30) + 3);
  EXPECT_EQ(DefaultMemoryLimitBytes(1000), kMemoryLimitBytesMin);
}

}  // namespace machine_limits_test
}  // namespace liststore
