// The kernel's calls for segments of a log.
#include "engine/disk/file_calls.h"

#include <errno.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "tests/support/temp_folder.h"

namespace liststore::testing {
namespace file_calls_test {

using disk::FileCalls;

TEST(FileCallsTest, SegmentsAreWrittenAndReadByOffset) {
  const TempFolder folder;
  FileCalls& calls = disk::KernelFileCalls();
  const std::string path = folder / "segment";
  const int file = calls.Open(path, FileCalls::OpenFor::kNew);
  ASSERT_GE(file, 0);
  EXPECT_EQ(calls.Open(path, FileCalls::OpenFor::kNew), -EEXIST);
  EXPECT_EQ(calls.Size(file), 0);
  const int allocated = calls.Allocate(file, 10'000);
  if (allocated != -EOPNOTSUPP) {
    EXPECT_EQ(allocated, 0);
    EXPECT_EQ(calls.Size(file), 10'000);
    EXPECT_EQ(calls.Allocate(file, 10), 0);
    EXPECT_EQ(calls.Size(file), 10'000);
  }
  EXPECT_EQ(calls.WriteAt(file, "abcdef", 6, 5'000), 6);
  EXPECT_EQ(calls.WriteAt(file, "xy", 2, 5'002), 2);
  char bytes[8] = {};
  EXPECT_EQ(calls.ReadAt(file, bytes, 6, 5'000), 6);
  EXPECT_EQ(std::string(bytes), "abxyef");
  EXPECT_EQ(calls.SyncData(file), 0);
  EXPECT_EQ(calls.Cut(file, 5'003), 0);
  EXPECT_EQ(calls.Size(file), 5'003);
  EXPECT_EQ(calls.ReadAt(file, bytes, 6, 5'000), 3);
  EXPECT_EQ(calls.ReadAt(file, bytes, 6, 5'003), 0);
  EXPECT_EQ(calls.Close(file), 0);
  EXPECT_EQ(calls.Size(file), -EBADF);
}

TEST(FileCallsTest, DirectoriesAreListed) {
  const TempFolder folder;
  FileCalls& calls = disk::KernelFileCalls();
  std::vector<std::string> names{"of before"};
  EXPECT_EQ(calls.List(folder.path(), names), 0);
  EXPECT_TRUE(names.empty());
  WriteFile(folder / "a", "");
  WriteFile(folder / ".b", "");
  EXPECT_EQ(calls.List(folder.path(), names), 0);
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()), (std::set<std::string>{"a", ".b"}));
  EXPECT_EQ(calls.List(folder / "none", names), -ENOENT);
}

}  // namespace file_calls_test
}  // namespace liststore::testing
