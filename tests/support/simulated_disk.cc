#include "tests/support/simulated_disk.h"

#include <errno.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "engine/base/check.h"
#include "engine/base/random.h"

namespace liststore::testing {

int SimulatedDisk::FaultOf(Call call) {
  const int64_t number = calls_++;
  return fault ? fault(call, number) : 0;
}

SimulatedDisk::Descriptor* SimulatedDisk::Find(int file) {
  const auto found = open_.find(file);
  LS_CHECK(found != open_.end(), "a descriptor is open while it is used");
  return &found->second;
}

bool SimulatedDisk::Fits(uint64_t more) const {
  uint64_t bytes = more;
  for (const auto& [path, file] : names_) bytes += file->content.size();
  return bytes <= capacity;
}

int SimulatedDisk::Open(const std::string& path, OpenFor purpose) {
  MutexLock lock(mutex_);
  if (const int failed = FaultOf(Call::kOpen)) return failed;
  Descriptor descriptor;
  descriptor.path = path;
  if (purpose != OpenFor::kDirectory) {
    auto found = names_.find(path);
    if (found == names_.end()) {
      if (purpose == OpenFor::kReading) return -ENOENT;
      found = names_.emplace(path, std::make_shared<File>()).first;
    } else if (purpose == OpenFor::kNew) {
      return -EEXIST;
    }
    descriptor.file = found->second;
  }
  open_.emplace(next_descriptor_, std::move(descriptor));
  return next_descriptor_++;
}

int SimulatedDisk::Close(int file) {
  MutexLock lock(mutex_);
  const int failed = FaultOf(Call::kClose);
  Descriptor* const descriptor = Find(file);
  if (descriptor->has_lock) descriptor->file->locked = false;
  open_.erase(file);
  return failed;
}

int64_t SimulatedDisk::Read(int file, char* to, size_t bytes) {
  MutexLock lock(mutex_);
  if (const int failed = FaultOf(Call::kRead)) return failed;
  Descriptor* const descriptor = Find(file);
  const std::string& content = descriptor->file->content;
  const size_t at = std::min<uint64_t>(descriptor->offset, content.size());
  const size_t read = content.copy(to, bytes, at);
  descriptor->offset += read;
  return static_cast<int64_t>(read);
}

int64_t SimulatedDisk::ReadAt(int file, char* to, size_t bytes, uint64_t offset) {
  MutexLock lock(mutex_);
  if (const int failed = FaultOf(Call::kRead)) return failed;
  const std::string& content = Find(file)->file->content;
  if (offset >= content.size()) return 0;
  return static_cast<int64_t>(content.copy(to, bytes, offset));
}

int64_t SimulatedDisk::WriteHere(File& file, const char* from, size_t bytes, uint64_t offset) {
  bytes = std::min(bytes, write_bytes_max);
  if (offset + bytes > file.content.size()) {
    if (!Fits(offset + bytes - file.content.size())) return -ENOSPC;
    file.content.resize(offset + bytes);
  }
  std::memcpy(file.content.data() + offset, from, bytes);
  for (uint64_t sector = offset / kSectorBytes; sector * kSectorBytes < offset + bytes; ++sector) {
    file.dirty.insert(sector);
  }
  return static_cast<int64_t>(bytes);
}

int64_t SimulatedDisk::Write(int file, const char* from, size_t bytes) {
  MutexLock lock(mutex_);
  if (const int failed = FaultOf(Call::kWrite)) return failed;
  Descriptor* const descriptor = Find(file);
  const int64_t written = WriteHere(*descriptor->file, from, bytes, descriptor->offset);
  if (written > 0) descriptor->offset += static_cast<uint64_t>(written);
  return written;
}

int64_t SimulatedDisk::WriteAt(int file, const char* from, size_t bytes, uint64_t offset) {
  MutexLock lock(mutex_);
  if (const int failed = FaultOf(Call::kWrite)) return failed;
  return WriteHere(*Find(file)->file, from, bytes, offset);
}

int64_t SimulatedDisk::Size(int file) {
  MutexLock lock(mutex_);
  if (const int failed = FaultOf(Call::kSize)) return failed;
  return static_cast<int64_t>(Find(file)->file->content.size());
}

int SimulatedDisk::Cut(int file, uint64_t bytes) {
  MutexLock lock(mutex_);
  if (const int failed = FaultOf(Call::kCut)) return failed;
  Find(file)->file->content.resize(bytes);
  return 0;
}

int SimulatedDisk::Allocate(int file, uint64_t bytes) {
  MutexLock lock(mutex_);
  if (const int failed = FaultOf(Call::kAllocate)) return failed;
  File& to = *Find(file)->file;
  if (bytes <= to.content.size()) return 0;
  if (!Fits(bytes - to.content.size())) return -ENOSPC;
  to.content.resize(bytes);
  return 0;
}

int SimulatedDisk::Sync(int file) {
  MutexLock lock(mutex_);
  Descriptor* const descriptor = Find(file);
  if (descriptor->file == nullptr) {
    if (const int failed = FaultOf(Call::kSyncDirectory)) return failed;
    synced_names_ = names_;
    return 0;
  }
  File& synced = *descriptor->file;
  if (const int failed = FaultOf(Call::kSync)) {
    // As Linux does: some of it came to the disk, nobody knows what, and none is dirty any more.
    if (failed != -EBADF) LoseContent(synced, static_cast<uint64_t>(calls_));
    return failed;
  }
  synced.synced.resize(synced.content.size());
  for (const uint64_t sector : synced.dirty) {
    const uint64_t at = sector * kSectorBytes;
    if (at >= synced.content.size()) continue;
    const size_t bytes = std::min(kSectorBytes, synced.content.size() - at);
    std::memcpy(synced.synced.data() + at, synced.content.data() + at, bytes);
  }
  synced.dirty.clear();
  return 0;
}

// After: what a process reads is what is on the disk.
void SimulatedDisk::LoseContent(File& file, uint64_t seed) {
  Random random(seed);
  // The size may have come to the disk without the content, and the other way round not.
  const size_t size = random.OneIn(2) ? file.content.size() : file.synced.size();
  const uint64_t lost_in = 1 + random.Below(4);  // of so many one is lost, or all but one
  const bool few = random.OneIn(2);
  std::string kept = file.synced;
  kept.resize(size);
  for (const uint64_t sector : file.dirty) {
    const uint64_t at = sector * kSectorBytes;
    if (random.OneIn(lost_in) == few || at >= size || at >= file.content.size()) continue;
    const size_t bytes = std::min({kSectorBytes, size - at, file.content.size() - at});
    std::memcpy(kept.data() + at, file.content.data() + at, bytes);
  }
  file.dirty.clear();
  file.content = file.synced = std::move(kept);
}

void SimulatedDisk::LosePower(uint64_t seed) {
  MutexLock lock(mutex_);
  Random random(seed);
  open_.clear();
  // A name that was made or removed may have been; one that was synchronised stays.
  for (const auto& [path, file] : names_) {
    const auto synced = synced_names_.find(path);
    if (synced != synced_names_.end() && synced->second == file) continue;
    if (random.OneIn(2)) synced_names_[path] = file;
  }
  for (auto synced = synced_names_.begin(); synced != synced_names_.end();) {
    const bool removed = !names_.contains(synced->first);
    synced = removed && random.OneIn(2) ? synced_names_.erase(synced) : std::next(synced);
  }
  names_ = synced_names_;
  for (const auto& [path, file] : names_) {
    file->locked = false;
    LoseContent(*file, random.Next());
  }
}

void SimulatedDisk::EndProcess() {
  MutexLock lock(mutex_);
  open_.clear();
  for (const auto& [path, file] : names_) file->locked = false;
}

int SimulatedDisk::Lock(int file) {
  MutexLock lock(mutex_);
  if (const int failed = FaultOf(Call::kLock)) return failed;
  Descriptor* const descriptor = Find(file);
  if (descriptor->file->locked && !descriptor->has_lock) return -EWOULDBLOCK;
  descriptor->file->locked = descriptor->has_lock = true;
  return 0;
}

int SimulatedDisk::IsAt(int file, const std::string& path) {
  MutexLock lock(mutex_);
  if (const int failed = FaultOf(Call::kIsAt)) return failed;
  const auto found = names_.find(path);
  return found != names_.end() && found->second == Find(file)->file ? 1 : 0;
}

int SimulatedDisk::Rename(const std::string& from, const std::string& to) {
  MutexLock lock(mutex_);
  if (const int failed = FaultOf(Call::kRename)) return failed;
  const auto found = names_.find(from);
  if (found == names_.end()) return -ENOENT;
  names_[to] = found->second;
  names_.erase(from);
  return 0;
}

int SimulatedDisk::Remove(const std::string& path) {
  MutexLock lock(mutex_);
  if (const int failed = FaultOf(Call::kRemove)) return failed;
  return names_.erase(path) == 1 ? 0 : -ENOENT;
}

int SimulatedDisk::List(const std::string& path, std::vector<std::string>& names) {
  MutexLock lock(mutex_);
  if (const int failed = FaultOf(Call::kList)) return failed;
  names.clear();
  const std::string prefix = path + "/";
  for (const auto& [name, file] : names_) {
    if (name.starts_with(prefix)) names.push_back(name.substr(prefix.size()));
  }
  return 0;
}

int64_t SimulatedDisk::calls() const {
  MutexLock lock(mutex_);
  return calls_;
}

std::string SimulatedDisk::Content(const std::string& path) const {
  MutexLock lock(mutex_);
  const auto found = names_.find(path);
  return found == names_.end() ? "" : found->second->content;
}

void SimulatedDisk::SetContent(const std::string& path, std::string content) {
  MutexLock lock(mutex_);
  auto file = std::make_shared<File>();
  file->synced = file->content = std::move(content);
  names_[path] = synced_names_[path] = std::move(file);
}

std::vector<std::string> SimulatedDisk::Paths() const {
  MutexLock lock(mutex_);
  std::vector<std::string> paths;
  for (const auto& [path, file] : names_) paths.push_back(path);
  return paths;
}

size_t SimulatedDisk::open_files() const {
  MutexLock lock(mutex_);
  return open_.size();
}

}  // namespace liststore::testing
