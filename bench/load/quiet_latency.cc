#include "bench/load/quiet_latency.h"

#include <algorithm>
#include <utility>

#include "engine/base/check.h"

namespace liststore {

QuietLatency::QuietLatency() : open_(std::make_unique<std::array<Histogram, kWindows>>()) {}

void QuietLatency::Record(int64_t due, uint64_t latency) {
  LS_DCHECK(due >= 0, "times count from the beginning");
  const int64_t window = due / kWindowNanos;
  OpenTo(window);
  (window < first_ ? latency_ : At(window)).Record(latency);
}

void QuietLatency::CoreWasTaken(int64_t begin, int64_t end) {
  LS_CHECK(begin <= end, "a wait ends after it has begun");
  disturbed_.push_back(
      {std::max<int64_t>(begin, 0) / kWindowNanos, (end + (end - begin)) / kWindowNanos + 1});
}

Histogram QuietLatency::Finish() {
  while (first_ < end_) CloseFirst();
  first_ = 0;
  end_ = 1;
  disturbed_.clear();
  return std::exchange(latency_, Histogram());
}

void QuietLatency::CloseFirst() {
  std::erase_if(disturbed_, [this](const Windows& windows) { return windows.last < first_; });
  const bool is_quiet = std::ranges::none_of(
      disturbed_, [this](const Windows& windows) { return windows.first <= first_; });
  Histogram& closed = At(first_);
  if (is_quiet) latency_.Merge(closed);
  closed.Clear();
  ++first_;
}

void QuietLatency::OpenTo(int64_t window) {
  for (; end_ <= window; ++end_) {
    if (end_ - first_ == static_cast<int64_t>(kWindows)) CloseFirst();
  }
}

}  // namespace liststore
