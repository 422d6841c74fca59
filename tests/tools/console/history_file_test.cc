#include "tools/console/history_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/temp_folder.h"

namespace liststore::testing {
namespace history_file_test {

mode_t ModeOf(const std::string& path) {
  struct stat status = {};
  EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
  return status.st_mode & 0777;
}

TEST(HistoryFile, KeepsEntriesForTheirOwnerAlone) {
  const TempFolder folder;
  const std::string path = folder.path() + "/state/liststore/history";
  const HistoryFile file(path);
  EXPECT_TRUE(file.Load().empty());
  const std::vector<std::string> entries = {"USE feat;", "SELECT *\n  FROM t;", "a\\nb \\", "\\d"};
  for (const std::string& entry : entries) EXPECT_TRUE(file.Add(entry).ok());
  EXPECT_EQ(file.Load(), entries);
  EXPECT_EQ(ModeOf(path), 0600u);
  EXPECT_EQ(ModeOf(folder.path() + "/state/liststore"), 0700u);
  ::chmod(path.c_str(), 0644);
  EXPECT_TRUE(file.Add("x").ok());
  EXPECT_EQ(ModeOf(path), 0600u) << "of a file that was open to others too";
}

TEST(HistoryFile, HasNoPasswords) {
  const TempFolder folder;
  const HistoryFile file(folder.path() + "/history");
  EXPECT_TRUE(file.Add("CREATE ROLE r WITH PASSWORD = 'secret';").ok());
  EXPECT_TRUE(file.Add("ALTER ROLE r WITH hashed password = 'x';").ok());
  EXPECT_TRUE(file.Add("LIST ROLES;").ok());
  EXPECT_EQ(file.Load(), std::vector<std::string>{"LIST ROLES;"});
}

TEST(HistoryFile, IsCutWhenItHasGrown) {
  const TempFolder folder;
  const std::string path = folder.path() + "/history";
  const HistoryFile file(path);
  const size_t many = 2 * HistoryFile::kEntriesMax;
  std::string text;
  for (size_t i = 1; i <= many; ++i) text += std::to_string(i) + "\n";
  WriteFile(path, text);
  std::vector<std::string> entries = file.Load();
  ASSERT_EQ(entries.size(), HistoryFile::kEntriesMax);
  EXPECT_EQ(entries.front(), std::to_string(HistoryFile::kEntriesMax + 1));
  EXPECT_EQ(entries.back(), std::to_string(many));
  EXPECT_LT(std::filesystem::file_size(path), text.size());
  EXPECT_EQ(ModeOf(path), 0600u);
  EXPECT_EQ(file.Load(), entries);
}

TEST(HistoryFile, AFileOfOthersBehindALinkKeepsItsMode) {
  const TempFolder folder;
  const std::string path = folder.path() + "/history";
  ASSERT_EQ(::mkfifo((folder.path() + "/pipe").c_str(), 0666), 0);
  ASSERT_EQ(::chmod((folder.path() + "/pipe").c_str(), 0666), 0);
  const int reader = ::open((folder.path() + "/pipe").c_str(), O_RDONLY | O_NONBLOCK);
  std::filesystem::create_symlink(folder.path() + "/pipe", path);
  EXPECT_TRUE(HistoryFile(path).Add("x").ok());
  EXPECT_EQ(ModeOf(folder.path() + "/pipe"), 0666u);
  ::close(reader);
}

TEST(HistoryFile, SaysWhyNothingIsKept) {
  const TempFolder folder;
  WriteFile(folder.path() + "/file", "");
  const HistoryFile file(folder.path() + "/file/history");
  EXPECT_TRUE(file.Load().empty());
  const absl::Status status = file.Add("x");
  EXPECT_NE(status.message().find("/file/history: "), absl::string_view::npos) << status;
  EXPECT_TRUE(HistoryFile("").Add("x").ok()) << "nobody wants it kept";
}

TEST(HistoryFile, LiesInTheStateOfTheUser) {
  setenv("XDG_STATE_HOME", "/state", 1);
  EXPECT_EQ(DefaultHistoryPath(), "/state/liststore/history");
  setenv("XDG_STATE_HOME", "state", 1);
  setenv("HOME", "/home/u", 1);
  EXPECT_EQ(DefaultHistoryPath(), "/home/u/.local/state/liststore/history");
  unsetenv("XDG_STATE_HOME");
  unsetenv("HOME");
  EXPECT_EQ(DefaultHistoryPath(), "");
}

}  // namespace history_file_test
}  // namespace liststore::testing
