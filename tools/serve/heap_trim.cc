#include "tools/serve/heap_trim.h"

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <utility>

#include "engine/base/worker_thread.h"

namespace liststore {
namespace {

// From so much of the limit on it is given back, and from so much on looked for often.
constexpr uint64_t kNearNumerator = 4;
constexpr uint64_t kNearDenominator = 5;
constexpr uint64_t kFarNumerator = 3;
constexpr uint64_t kFarDenominator = 5;
// Less than this part of the limit is little.
constexpr uint64_t kLittlePart = 64;
constexpr int kLookMillis = 100;
constexpr int kLittleMillis = 1'000;
constexpr int kInVainMax = 10;

// 0: not known.
uint64_t ResidentBytes() {
  std::FILE* const file = std::fopen("/proc/self/statm", "re");
  if (file == nullptr) return 0;
  unsigned long all = 0;
  unsigned long resident = 0;
  const int read = std::fscanf(file, "%lu %lu", &all, &resident);
  std::fclose(file);
  return read == 2 ? uint64_t{resident} * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) : 0;
}

void Trim() {
#if defined(__GLIBC__)
  malloc_trim(0);
#endif
}

}  // namespace

HeapTrim::HeapTrim(uint64_t limit_bytes) : limit_bytes_(limit_bytes) {
  absl::StatusOr<std::thread> thread = StartThread("liststore-heap", [this] { Run(); });
  if (thread.ok()) thread_ = *std::move(thread);
}

HeapTrim::~HeapTrim() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  ends_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void HeapTrim::NoteFreed(uint64_t bytes) {
  const uint64_t limit = limit_bytes_.load();
  if (freed_bytes_.fetch_add(bytes) + bytes < limit / kLittlePart) return;
  if (ResidentBytes() < limit / kNearDenominator * kNearNumerator) return;
  if (freed_bytes_.exchange(0) > 0) Trim();
}

bool HeapTrim::Wait(int millis) {
  std::unique_lock lock(mutex_);
  return !ends_.wait_for(lock, std::chrono::milliseconds(millis), [this] { return is_over_; });
}

void HeapTrim::SetListener(std::function<bool(uint64_t)> listener) {
  const std::lock_guard lock(listener_mutex_);
  listener_ = std::move(listener);
}

bool HeapTrim::Tell(uint64_t resident_bytes) {
  const std::lock_guard lock(listener_mutex_);
  return listener_ && listener_(resident_bytes);
}

void HeapTrim::Run() {
  int millis = kLookMillis;
  int looks_without = 0;  // that are to come
  int in_vain = 0;
  while (Wait(millis)) {
    const uint64_t limit = limit_bytes_.load();
    const uint64_t before = ResidentBytes();
    if (before == 0) continue;  // there is no descriptor for the file: the next look will do
    const bool is_over = Tell(before);
    millis =
        is_over || before >= limit / kFarDenominator * kFarNumerator ? kLookMillis : kLittleMillis;
    if (looks_without > 0) {
      --looks_without;
      continue;
    }
    if (!is_over && before < limit / kNearDenominator * kNearNumerator) continue;
    freed_bytes_.store(0);
    Trim();
    const uint64_t after = ResidentBytes();
    const bool found_little = before - std::min(before, after) < limit / kLittlePart;
    in_vain = found_little ? in_vain + 1 : 0;
    // Above the limit it looks on for a while: what is free next moment matters then.
    if (found_little && (after < limit || in_vain > kInVainMax)) {
      looks_without = kLittleMillis / kLookMillis;
    }
  }
}

}  // namespace liststore
