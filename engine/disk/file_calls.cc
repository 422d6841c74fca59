#include "engine/disk/file_calls.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <new>
#include <string_view>

namespace liststore::disk {
namespace {

// -errno for -1, again while a signal interrupts.
template <typename Call>
auto Try(Call&& call) {
  auto result = call();
  while (result == -1 && errno == EINTR) result = call();
  return result == -1 ? -errno : result;
}

class Kernel final : public FileCalls {
 public:
  int Open(const std::string& path, OpenFor purpose) override {
    int flags = O_CLOEXEC;
    if (purpose == OpenFor::kWriting) {
      flags |= O_WRONLY | O_CREAT | O_NOFOLLOW;
    } else if (purpose == OpenFor::kNew) {
      flags |= O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW;
    } else {
      flags |= O_RDONLY | (purpose == OpenFor::kDirectory ? O_DIRECTORY : 0);
    }
    return Try([&] { return ::open(path.c_str(), flags, 0600); });
  }
  // Not again: the descriptor is gone even when a signal interrupted.
  int Close(int file) override { return ::close(file) == -1 ? -errno : 0; }
  int64_t Read(int file, char* to, size_t bytes) override {
    return Try([&]() -> int64_t { return ::read(file, to, bytes); });
  }
  int64_t Write(int file, const char* from, size_t bytes) override {
    return Try([&]() -> int64_t { return ::write(file, from, bytes); });
  }
  int64_t ReadAt(int file, char* to, size_t bytes, uint64_t offset) override {
    return Try([&]() -> int64_t { return ::pread(file, to, bytes, static_cast<off_t>(offset)); });
  }
  int64_t WriteAt(int file, const char* from, size_t bytes, uint64_t offset) override {
    return Try(
        [&]() -> int64_t { return ::pwrite(file, from, bytes, static_cast<off_t>(offset)); });
  }
  char* Map(int file, uint64_t offset, size_t bytes) override {
    void* const begin = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file,
                               static_cast<off_t>(offset));
    return begin == MAP_FAILED ? nullptr : static_cast<char*>(begin);
  }
  void Unmap(char* begin, size_t bytes) override { ::munmap(begin, bytes); }
  int64_t Size(int file) override {
    struct stat opened = {};
    return ::fstat(file, &opened) == -1 ? -errno : static_cast<int64_t>(opened.st_size);
  }
  int Empty(int file) override {
    return Try([&] { return ::ftruncate(file, 0); });
  }
  int Cut(int file, uint64_t bytes) override {
    return Try([&] { return ::ftruncate(file, static_cast<off_t>(bytes)); });
  }
  int Allocate(int file, uint64_t bytes) override {
    return Try([&] { return ::fallocate(file, 0, 0, static_cast<off_t>(bytes)); });
  }
  int Sync(int file) override {
    return Try([&] { return ::fsync(file); });
  }
  int SyncData(int file) override {
    return Try([&] { return ::fdatasync(file); });
  }
  int Lock(int file) override {
    return Try([&] { return ::flock(file, LOCK_EX | LOCK_NB); });
  }
  int IsAt(int file, const std::string& path) override {
    struct stat opened = {};
    struct stat named = {};
    if (::fstat(file, &opened) == -1) return -errno;
    if (::stat(path.c_str(), &named) == -1) return errno == ENOENT ? 0 : -errno;
    return opened.st_dev == named.st_dev && opened.st_ino == named.st_ino ? 1 : 0;
  }
  int Rename(const std::string& from, const std::string& to) override {
    return Try([&] { return ::rename(from.c_str(), to.c_str()); });
  }
  int Remove(const std::string& path) override {
    return Try([&] { return ::unlink(path.c_str()); });
  }
  int List(const std::string& path, std::vector<std::string>& names) override {
    DIR* directory = ::opendir(path.c_str());
    if (directory == nullptr) return -errno;
    names.clear();
    int result = 0;
    try {
      errno = 0;
      while (const dirent* entry = ::readdir(directory)) {
        const std::string_view name = entry->d_name;
        if (name != "." && name != "..") names.emplace_back(name);
        errno = 0;
      }
      result = -errno;
    } catch (const std::bad_alloc&) {
      result = -ENOMEM;
    }
    ::closedir(directory);
    return result;
  }
};

}  // namespace

FileCalls& KernelFileCalls() {
  static Kernel kernel;
  return kernel;
}

}  // namespace liststore::disk
