// FileCalls that go to the kernel and, where a test says so, do not: for tests of what a failing
// disk leaves behind.
#ifndef LISTSTORE_TESTS_DISK_FAULTY_CALLS_H_
#define LISTSTORE_TESTS_DISK_FAULTY_CALLS_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/disk/file_calls.h"

namespace liststore::testing {

class FaultyCalls final : public disk::FileCalls {
 public:
  // The call of this number, from 0, counting all that can fail, answers `fault` (-errno) and does
  // nothing. -1: none does.
  int64_t fails_at = -1;
  int fault = 0;
  // No read or write moves more than this at once.
  size_t bytes_max = SIZE_MAX;
  int64_t calls = 0;

  int Open(const std::string& path, OpenFor purpose) override {
    return Failing() ? fault : kernel_.Open(path, purpose);
  }
  // What fails is reported, and closed all the same.
  int Close(int file) override {
    const bool failing = Failing();
    const int result = kernel_.Close(file);
    return failing ? fault : result;
  }
  int64_t Read(int file, char* to, size_t bytes) override {
    return Failing() ? fault : kernel_.Read(file, to, std::min(bytes, bytes_max));
  }
  int64_t Write(int file, const char* from, size_t bytes) override {
    return Failing() ? fault : kernel_.Write(file, from, std::min(bytes, bytes_max));
  }
  int64_t ReadAt(int file, char* to, size_t bytes, uint64_t offset) override {
    return Failing() ? fault : kernel_.ReadAt(file, to, std::min(bytes, bytes_max), offset);
  }
  int64_t WriteAt(int file, const char* from, size_t bytes, uint64_t offset) override {
    return Failing() ? fault : kernel_.WriteAt(file, from, std::min(bytes, bytes_max), offset);
  }
  int64_t Size(int file) override { return Failing() ? fault : kernel_.Size(file); }
  int Cut(int file, uint64_t bytes) override {
    return Failing() ? fault : kernel_.Cut(file, bytes);
  }
  int Allocate(int file, uint64_t bytes) override {
    return Failing() ? fault : kernel_.Allocate(file, bytes);
  }
  int SyncData(int file) override { return Failing() ? fault : kernel_.SyncData(file); }
  int List(const std::string& path, std::vector<std::string>& names) override {
    return Failing() ? fault : kernel_.List(path, names);
  }
  int Empty(int file) override { return Failing() ? fault : kernel_.Empty(file); }
  int Sync(int file) override { return Failing() ? fault : kernel_.Sync(file); }
  int Lock(int file) override { return Failing() ? fault : kernel_.Lock(file); }
  int IsAt(int file, const std::string& path) override {
    return Failing() ? fault : kernel_.IsAt(file, path);
  }
  int Rename(const std::string& from, const std::string& to) override {
    return Failing() ? fault : kernel_.Rename(from, to);
  }
  int Remove(const std::string& path) override { return kernel_.Remove(path); }

 private:
  bool Failing() { return calls++ == fails_at; }
  disk::FileCalls& kernel_ = disk::KernelFileCalls();
};

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_DISK_FAULTY_CALLS_H_
