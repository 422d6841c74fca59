// Files that are damaged, cut off or foreign, and disks that fail: an error with its place, no
// store, and the old file as it was.
#include <errno.h>
#include <gtest/gtest.h>

#include <string>

#include "engine/base/random.h"
#include "engine/disk/file_source.h"
#include "engine/lists/saved_store.h"
#include "tests/disk/faulty_calls.h"
#include "tests/lists/store_fixture.h"
#include "tests/support/memory_stream.h"
#include "tests/support/seed.h"
#include "tests/support/temp_folder.h"

namespace liststore::testing {
namespace saved_store_faults_test {

class SavedStoreFaultsTest : public StoreTest {
 protected:
  SavedStoreFaultsTest() {
    CreateHistory();
    EXPECT_EQ(Say(store->CreateListFeatureVersion("user", "history", "v2", 7)), "OK");
    const std::string long_value(3'000, 'v');
    for (int i = 0; i < 5; ++i) {
      EXPECT_EQ(Say(Add(History(std::to_string(i)), kNow - 2, "story")), "OK");
      EXPECT_EQ(Say(Add(History(std::to_string(i)), kNow - 1, i == 0 ? long_value : "other")),
                "OK");
    }
    const NewItem item{kNow, "put"};
    const PutListOptions fresh{.fresh_until_seconds = kNowSeconds + 60};
    EXPECT_TRUE(store->PutList(History("put"), {&item, 1}, fresh).ok());
    EXPECT_TRUE(store->PutList(History("empty"), {}, fresh).ok());
    EXPECT_TRUE(SaveListStore(*store, path).ok());
    bytes = ReadFile(path);
  }

  // The error of a file of these bytes; "OK" when it opens.
  std::string Open(std::string_view content) {
    MemorySource source(content);
    return Say(SavedStore::Load(source, options, nullptr));
  }
  // One that says where: an offset within the file, but for a file that is not taken for one.
  void ExpectRefused(std::string_view content) {
    const std::string answer = Open(content);
    if (answer.rfind("INVALID_ARGUMENT: not a saved store", 0) == 0) return;
    if (answer.rfind("FAILED_PRECONDITION: saved store of version", 0) == 0) return;
    const std::string begin = "DATA_LOSS: saved store damaged at offset ";
    ASSERT_EQ(answer.substr(0, begin.size()), begin);
    ASSERT_LE(std::stoull(answer.substr(begin.size())), content.size()) << answer;
  }

  TempFolder folder;
  const std::string path = folder / "lists.saved";
  Options options = SmallOptions(clock);
  std::string bytes;
};

TEST_F(SavedStoreFaultsTest, EveryFlippedByteIsFound) {
  ASSERT_EQ(Open(bytes), "OK");
  Random random(TestSeed());
  // Opening a store costs more than the look.
  options.shards = 1;
  for (size_t i = 0; i < bytes.size(); ++i) {
    SCOPED_TRACE("byte " + std::to_string(i));
    std::string flipped = bytes;
    flipped[i] = static_cast<char>(flipped[i] ^ (1 + random.Below(255)));
    ExpectRefused(flipped);
    if (HasFatalFailure()) return;
  }
}

TEST_F(SavedStoreFaultsTest, EveryCutIsFound) {
  options.shards = 1;
  for (size_t length = 0; length < bytes.size(); ++length) {
    SCOPED_TRACE("cut at " + std::to_string(length));
    ExpectRefused(std::string_view(bytes).substr(0, length));
    if (HasFatalFailure()) return;
  }
  ExpectRefused(bytes + bytes);
}

TEST_F(SavedStoreFaultsTest, ForeignFilesAreNotTaken) {
  for (const std::string_view content :
       {std::string_view(), std::string_view("{\"lists\": []}"), std::string_view("\x1f\x8b\x08"),
        std::string_view(bytes).substr(1), std::string_view(bytes).substr(64)}) {
    EXPECT_EQ(Open(content).substr(0, 36), "INVALID_ARGUMENT: not a saved store:");
  }
  WriteFile(path, "something else");
  const auto loaded = LoadListStore(path, options);
  EXPECT_EQ(Say(loaded).substr(0, 18 + path.size() + 19),
            "INVALID_ARGUMENT: " + path + ": not a saved store");
}

// Every call that the kernel can refuse, refused once: writes, syncs, the renaming.
TEST_F(SavedStoreFaultsTest, WritesThatFailLeaveTheOldFile) {
  FaultyCalls calls;
  ASSERT_TRUE(SavedStore::Save(calls, *store, path, {}).ok());
  const int64_t calls_of_one = calls.calls;
  ASSERT_GT(calls_of_one, 8);
  ASSERT_EQ(Say(Add(History("later"), kNow, "later")), "OK");
  for (const int fault : {-ENOSPC, -EIO, -EDQUOT}) {
    for (int64_t at = 0; at < calls_of_one; ++at) {
      SCOPED_TRACE("call " + std::to_string(at));
      WriteFile(path, bytes);
      calls.calls = 0;
      calls.fails_at = at;
      calls.fault = fault;
      const auto saved = SavedStore::Save(calls, *store, path, {});
      const std::string content = ReadFile(path);
      // The last four come after the renaming: closing, and opening, syncing and closing the
      // folder.
      EXPECT_EQ(content == bytes, at < calls_of_one - 4);
      EXPECT_EQ(Open(content), "OK");
      EXPECT_TRUE(!saved.ok() || at + 1 == calls_of_one);
      // Without the lock (calls 1 and 2) the file beside may be another writer's.
      std::set<std::string> names = folder.Names();
      if (at == 1 || at == 2) names.erase("lists.saved.saving");
      EXPECT_EQ(names, std::set<std::string>{"lists.saved"});
    }
  }
  // And short ones do not matter.
  calls.fails_at = -1;
  calls.bytes_max = 7;
  ASSERT_TRUE(SavedStore::Save(calls, *store, path, {}).ok());
  EXPECT_EQ(Open(ReadFile(path)), "OK");
}

TEST_F(SavedStoreFaultsTest, ReadsThatFailAreTheKernelsError) {
  FaultyCalls calls;
  for (int64_t at = 0; at < 4; ++at) {
    calls.calls = 0;
    calls.fails_at = at;
    calls.fault = -EIO;
    disk::FileSource source(calls, path);
    absl::Status status = source.Open();
    if (status.ok()) status = SavedStore::Load(source, options, nullptr).status();
    EXPECT_NE(status.message().find("cannot read " + path + ": Input/output error"),
              std::string::npos)
        << status;
  }
}

}  // namespace saved_store_faults_test
}  // namespace liststore::testing
