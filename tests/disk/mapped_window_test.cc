// MappedWindow: what is stored is in the file, and what cannot be is told and ends nothing.
#include "engine/disk/mapped_window.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "engine/base/worker_thread.h"
#include "tests/support/temp_folder.h"

extern "C" [[gnu::weak]] void __sanitizer_print_stack_trace();

namespace liststore::testing {
namespace mapped_window_test {

using disk::KernelFileCalls;
using disk::MappedWindow;

constexpr size_t kPage = 4096;

// A file of so many pages of zeros, open.
class PagesFile {
 public:
  explicit PagesFile(size_t pages)
      : path_(folder_ / "file"),
        file_(KernelFileCalls().Open(path_, disk::FileCalls::OpenFor::kNew)) {
    EXPECT_GE(file_, 0);
    EXPECT_EQ(KernelFileCalls().Allocate(file_, pages * kPage), 0);
  }
  ~PagesFile() { KernelFileCalls().Close(file_); }

  int file() const { return file_; }
  // The disk, or somebody else, has taken what lies behind.
  void CutTo(size_t pages) const { EXPECT_EQ(KernelFileCalls().Cut(file_, pages * kPage), 0); }
  std::string Read(uint64_t offset, size_t bytes) const {
    std::string text(bytes, '\0');
    EXPECT_EQ(KernelFileCalls().ReadAt(file_, text.data(), bytes, offset),
              static_cast<int64_t>(bytes));
    return text;
  }

 private:
  const TempFolder folder_;
  const std::string path_;
  const int file_;
};

void Store(const MappedWindow& window, uint64_t offset, std::string_view text) {
  char* const at = window.At(offset);
  ASSERT_NE(at, nullptr);
  std::memcpy(at, text.data(), text.size());
}

TEST(MappedWindow, WhatIsStoredIsInTheFile) {
  const PagesFile file(4);
  MappedWindow window(KernelFileCalls());
  EXPECT_FALSE(window.is_mapped());
  EXPECT_EQ(window.At(0), nullptr);
  ASSERT_TRUE(window.Map(file.file(), kPage, 2 * kPage));
  EXPECT_EQ(window.At(kPage - 1), nullptr);
  EXPECT_EQ(window.At(3 * kPage), nullptr);
  EXPECT_EQ(window.end(), 3 * kPage);
  Store(window, 2 * kPage - 2, "over two pages");
  EXPECT_EQ(file.Read(2 * kPage - 2, 14), "over two pages") << "while it is mapped";
  ASSERT_TRUE(window.Map(file.file(), 3 * kPage, kPage));
  Store(window, 3 * kPage, "elsewhere");
  window.Unmap();
  EXPECT_FALSE(window.is_mapped());
  EXPECT_EQ(window.At(3 * kPage), nullptr);
  EXPECT_EQ(file.Read(2 * kPage - 2, 14), "over two pages");
  EXPECT_EQ(file.Read(3 * kPage, 9), "elsewhere");
  EXPECT_FALSE(window.has_failed());
}

TEST(MappedWindow, APageThatIsGoneIsToldAndEndsNothing) {
  const PagesFile file(4);
  MappedWindow window(KernelFileCalls());
  ASSERT_TRUE(window.Map(file.file(), 0, 4 * kPage));
  Store(window, 0, "there");
  file.CutTo(2);
  Store(window, kPage, "there too");
  EXPECT_FALSE(window.has_failed());
  Store(window, 3 * kPage - 2, "over the end of a page that is gone");
  EXPECT_TRUE(window.has_failed());
  EXPECT_EQ(file.Read(0, 5), "there");
  EXPECT_EQ(file.Read(kPage, 9), "there too");
  // It is of this mapping alone.
  ASSERT_TRUE(window.Map(file.file(), 0, kPage));
  EXPECT_FALSE(window.has_failed());
  Store(window, 0, "again");
  EXPECT_EQ(file.Read(0, 5), "again");
}

// Threads of ours begin with all other signals blocked.
TEST(MappedWindow, APageMayBeGoneForAnyThread) {
  const PagesFile file(2);
  MappedWindow window(KernelFileCalls());
  ASSERT_TRUE(window.Map(file.file(), 0, 2 * kPage));
  file.CutTo(1);
  auto thread = StartThread("stores", [&] { Store(window, kPage, "x"); });
  ASSERT_TRUE(thread.ok());
  thread->join();
  EXPECT_TRUE(window.has_failed());
}

TEST(MappedWindow, AFailureIsThatOfOneWindow) {
  const PagesFile whole(2);
  const PagesFile cut(2);
  MappedWindow first(KernelFileCalls());
  MappedWindow second(KernelFileCalls());
  ASSERT_TRUE(first.Map(whole.file(), 0, 2 * kPage));
  ASSERT_TRUE(second.Map(cut.file(), 0, 2 * kPage));
  cut.CutTo(1);
  Store(second, kPage, "x");
  Store(first, kPage, "y");
  EXPECT_TRUE(second.has_failed());
  EXPECT_FALSE(first.has_failed());
  EXPECT_EQ(whole.Read(kPage, 1), "y");
}

TEST(MappedWindow, ThereAreSoManyAndNoMore) {
  const PagesFile file(1);
  std::vector<std::unique_ptr<MappedWindow>> windows;
  for (size_t i = 0; i < MappedWindow::kWindowsMax; ++i) {
    windows.push_back(std::make_unique<MappedWindow>(KernelFileCalls()));
    ASSERT_TRUE(windows.back()->Map(file.file(), 0, kPage)) << i;
  }
  MappedWindow one_more(KernelFileCalls());
  EXPECT_FALSE(one_more.Map(file.file(), 0, kPage));
  windows.pop_back();
  EXPECT_TRUE(one_more.Map(file.file(), 0, kPage));
}

TEST(MappedWindow, WhereNothingIsMappedItSaysSo) {
  MappedWindow window(KernelFileCalls());
  EXPECT_FALSE(window.Map(-1, 0, kPage));
  EXPECT_FALSE(window.is_mapped());
}

// A store to a file of somebody else's, which is gone.
void StoreToWhatIsGone() {
  const PagesFile file(1);
  char* const page = static_cast<char*>(
      ::mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_SHARED, file.file(), 0));
  file.CutTo(0);
  *page = 'x';
}
void UseAWindow() {
  const PagesFile file(1);
  MappedWindow window(KernelFileCalls());
  EXPECT_TRUE(window.Map(file.file(), 0, kPage));
  Store(window, 0, "x");
}
constexpr int kSeenByAnother = 7;
constexpr int kLives = 8;

// Sanitizers have a handler of their own, which reports it and exits.
bool EndsForSigbus(int status) {
  if (WIFSIGNALED(status)) return WTERMSIG(status) == SIGBUS;
  return &__sanitizer_print_stack_trace != nullptr && WEXITSTATUS(status) != 0 &&
         WEXITSTATUS(status) != kLives;
}

TEST(MappedWindowDeathTest, OtherErrorsEndTheProcessAsEver) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        UseAWindow();
        StoreToWhatIsGone();
        ::_exit(kLives);
      },
      EndsForSigbus, "");
  EXPECT_EXIT(
      {
        UseAWindow();
        ::kill(::getpid(), SIGBUS);
        ::_exit(kLives);
      },
      EndsForSigbus, "");
}

TEST(MappedWindowDeathTest, OtherErrorsGoToTheHandlerThatWasThereBefore) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        ::signal(SIGBUS, [](int) { ::_exit(kSeenByAnother); });
        UseAWindow();
        StoreToWhatIsGone();
      },
      ::testing::ExitedWithCode(kSeenByAnother), "");
  EXPECT_EXIT(
      {
        ::signal(SIGBUS, SIG_IGN);
        UseAWindow();
        ::kill(::getpid(), SIGBUS);
        ::_exit(kLives);
      },
      ::testing::ExitedWithCode(kLives), "");
}

}  // namespace mapped_window_test
}  // namespace liststore::testing
