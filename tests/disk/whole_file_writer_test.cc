#include "engine/disk/whole_file_writer.h"

#include <errno.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "engine/disk/file_source.h"
#include "tests/disk/faulty_calls.h"
#include "tests/support/temp_folder.h"

namespace liststore::testing {
namespace whole_file_writer_test {

class WholeFileWriterTest : public ::testing::Test {
 protected:
  absl::Status WriteAll(const std::string& content) {
    disk::WholeFileWriter writer(calls, path);
    absl::Status status = writer.Open();
    for (const char c : content) {
      if (status.ok()) status = writer.Append({&c, 1});
    }
    return status.ok() ? writer.Publish() : status;
  }

  TempFolder folder;
  const std::string path = folder / "content";
  FaultyCalls calls;
};

TEST_F(WholeFileWriterTest, WhatIsPublishedIsThere) {
  ASSERT_TRUE(WriteAll("abc").ok());
  EXPECT_EQ(ReadFile(path), "abc");
  ASSERT_TRUE(WriteAll("de").ok());
  EXPECT_EQ(ReadFile(path), "de");
  EXPECT_EQ(folder.Names(), std::set<std::string>{"content"});
}

TEST_F(WholeFileWriterTest, WhatIsNotPublishedLeavesNothing) {
  WriteFile(path, "old");
  {
    disk::WholeFileWriter writer(calls, path);
    ASSERT_TRUE(writer.Open().ok());
    ASSERT_TRUE(writer.Append("new").ok());
    EXPECT_EQ(ReadFile(path), "old");
  }
  EXPECT_EQ(ReadFile(path), "old");
  EXPECT_EQ(folder.Names(), std::set<std::string>{"content"});
}

TEST_F(WholeFileWriterTest, WhatACrashLeftBehindIsWrittenOver) {
  WriteFile(path + ".saving", "left behind, and longer");
  ASSERT_TRUE(WriteAll("abc").ok());
  EXPECT_EQ(ReadFile(path), "abc");
}

TEST_F(WholeFileWriterTest, TwoWritersOfOnePathDoNotMeet) {
  disk::WholeFileWriter first(calls, path);
  ASSERT_TRUE(first.Open().ok());
  ASSERT_TRUE(first.Append("first").ok());
  {
    disk::WholeFileWriter second(calls, path);
    EXPECT_EQ(second.Open().ToString(), "UNAVAILABLE: another writer has " + path + ".saving");
  }
  ASSERT_TRUE(first.Publish().ok());
  EXPECT_EQ(ReadFile(path), "first");
}

TEST_F(WholeFileWriterTest, ShortWritesAreGoneOnWith) {
  calls.bytes_max = 1;
  disk::WholeFileWriter writer(calls, path);
  ASSERT_TRUE(writer.Open().ok());
  ASSERT_TRUE(writer.Append("abcdef").ok());
  EXPECT_EQ(writer.bytes(), 6u);
  ASSERT_TRUE(writer.Publish().ok());
  EXPECT_EQ(ReadFile(path), "abcdef");
}

// Whichever call fails: the file is the old one or the new one, and nothing lies beside it.
TEST_F(WholeFileWriterTest, EveryFaultLeavesOneWholeFile) {
  ASSERT_TRUE(WriteAll("old").ok());
  const int64_t calls_of_one = calls.calls;
  bool published = false;
  for (const int fault : {-ENOSPC, -EIO}) {
    for (int64_t at = 0; at < calls_of_one; ++at) {
      WriteFile(path, "old");
      calls.calls = 0;
      calls.fails_at = at;
      calls.fault = fault;
      const absl::Status status = WriteAll("new");
      calls.fails_at = -1;
      // Closing the directory is beyond what matters.
      if (at + 1 < calls_of_one) {
        EXPECT_FALSE(status.ok()) << at;
        EXPECT_NE(status.message().find(path.substr(0, path.rfind('/'))), std::string::npos);
      }
      const std::string content = ReadFile(path);
      published |= content == "new";
      EXPECT_EQ(content, published ? "new" : "old") << "call " << at;
      // Without the lock (calls 1 and 2) the file beside may be another writer's.
      std::set<std::string> names = folder.Names();
      if (at == 1 || at == 2) names.erase("content.saving");
      EXPECT_EQ(names, std::set<std::string>{"content"}) << "call " << at;
    }
    EXPECT_TRUE(published);
    published = false;
  }
}

TEST_F(WholeFileWriterTest, NoSpaceIsResourceExhausted) {
  calls.fails_at = 4;  // open, lock, look, empty, write
  calls.fault = -ENOSPC;
  const absl::Status status = WriteAll("new");
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  EXPECT_EQ(status.message(), "cannot write " + path + ".saving: No space left on device");
}

TEST_F(WholeFileWriterTest, AFolderThatIsNotThereIsNotFound) {
  disk::WholeFileWriter writer(calls, folder / "no/content");
  EXPECT_EQ(writer.Open().code(), absl::StatusCode::kNotFound);
}

TEST_F(WholeFileWriterTest, SourcesReadPieces) {
  WriteFile(path, "abcdef");
  calls.bytes_max = 1;
  disk::FileSource source(calls, path);
  ASSERT_TRUE(source.Open().ok());
  char bytes[4];
  EXPECT_EQ(*source.Read(bytes, 4), 4u);
  EXPECT_EQ(std::string(bytes, 4), "abcd");
  EXPECT_EQ(*source.Read(bytes, 4), 2u);
  EXPECT_EQ(*source.Read(bytes, 4), 0u);
  disk::FileSource missing(calls, folder / "missing");
  EXPECT_EQ(missing.Open().code(), absl::StatusCode::kNotFound);
}

}  // namespace whole_file_writer_test
}  // namespace liststore::testing
