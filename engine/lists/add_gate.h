// AddGate: makes the deletion of a feature wait for every addition that may have seen the feature.
#ifndef LISTSTORE_ENGINE_LISTS_ADD_GATE_H_
#define LISTSTORE_ENGINE_LISTS_ADD_GATE_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>

#include "engine/base/cacheline.h"
#include "engine/base/check.h"
#include "engine/base/thread_stripe.h"

namespace liststore {

// An addition reads whether its feature exists, then applies. In between, the feature may be
// deleted and truncated; the items would then remain, or, worse, appear in a new feature of the
// same name. A second truncation afterwards is not enough: readers could see the items meanwhile,
// and it could remove items of the new feature. So an addition holds a Pass from before it reads
// the feature until it has been applied. A deletion withdraws the feature, waits for all earlier
// passes, and truncates last. Additions with a later pass see that the feature is gone.
//
// Any thread. A pass is two uncontended read-modify-writes, about 10 ns: passes are counted on 64
// cache lines, so that threads use different ones (ThreadStripe). WaitForPasses closes one line at
// a time and yields until the line has drained; its callers are serialized (the registry's mutex)
// and hold no pass. 4 KiB.
class AddGate {
  struct alignas(kCacheLineBytes) Line {
    std::atomic<uint32_t> state{0};  // the lowest bit closes the line; passes count above it
  };
  static constexpr uint32_t kClosed = 1;
  static constexpr uint32_t kOne = 2;
  static constexpr int kLinesLog2 = 6;

 public:
  class Pass {
   public:
    explicit Pass(AddGate& gate) : line_(gate.EnterLine()) {}
    ~Pass() {
      const uint32_t before = line_.state.fetch_sub(kOne, std::memory_order_release);
      LS_DCHECK(before >= kOne, "a pass is given back once");
    }
    Pass(const Pass&) = delete;
    Pass& operator=(const Pass&) = delete;

   private:
    Line& line_;
  };

  AddGate() = default;
  AddGate(const AddGate&) = delete;
  AddGate& operator=(const AddGate&) = delete;

  // Returns when every pass taken before the call has been given back. Later passes see what the
  // caller wrote before the call.
  void WaitForPasses() {
    for (Line& line : lines_) {
      // acq_rel: a later pass reads this write or a later one, and so sees what came before it.
      const uint32_t before = line.state.fetch_or(kClosed, std::memory_order_acq_rel);
      LS_CHECK((before & kClosed) == 0, "deletions take turns");
      while (line.state.load(std::memory_order_acquire) != kClosed) std::this_thread::yield();
      line.state.fetch_and(~kClosed, std::memory_order_release);
    }
  }

 private:
  Line& EnterLine() {
    Line& line = lines_[ThreadStripe(kLinesLog2)];
    while (true) {
      if ((line.state.fetch_add(kOne, std::memory_order_acquire) & kClosed) == 0) return line;
      // Undo the count, or the deletion and this pass would wait for each other.
      line.state.fetch_sub(kOne, std::memory_order_relaxed);
      while ((line.state.load(std::memory_order_relaxed) & kClosed) != 0) {
        std::this_thread::yield();
      }
    }
  }

  std::array<Line, size_t{1} << kLinesLog2> lines_;
};

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_LISTS_ADD_GATE_H_
