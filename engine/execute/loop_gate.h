// LoopGate: keeps loops from waiting for lanes that a change of the schema holds for long.
#ifndef LISTSTORE_ENGINE_EXECUTE_LOOP_GATE_H_
#define LISTSTORE_ENGINE_EXECUTE_LOOP_GATE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/base/cacheline.h"

namespace liststore::execute {

// Thread-safe. While it is closed, no loop carries out statements: those that come wait in their
// sessions, and loops have time for everything that needs no lane. To pass costs an exchange, on a
// line that is the loop's own.
class LoopGate {
 public:
  // A loop, while it carries out statements.
  class Pass {
   public:
    // `loop`: below the number of loops that the gate was made for.
    Pass(LoopGate& gate, uint32_t loop) : inside_(gate.loops_[loop].inside) {
      // Either this loop sees that the gate is closed, or who closes it sees the loop.
      inside_.store(true, std::memory_order_seq_cst);
      if (gate.closed_.load(std::memory_order_seq_cst) == 0) [[likely]]
        return;
      inside_.store(false, std::memory_order_release);
      is_refused_ = true;
    }
    ~Pass() {
      if (!is_refused_) inside_.store(false, std::memory_order_release);
    }
    Pass(const Pass&) = delete;
    Pass& operator=(const Pass&) = delete;

    bool is_refused() const { return is_refused_; }

   private:
    std::atomic<bool>& inside_;
    bool is_refused_ = false;
  };

  // Closes the gate while it lives, for whoever else has closed it too. Its maker holds nothing that
  // a statement on a loop may wait for, and is no loop: it waits until none is inside, some
  // milliseconds at most.
  class Closing {
   public:
    explicit Closing(LoopGate& gate);
    ~Closing() { gate_.closed_.fetch_sub(1, std::memory_order_release); }
    Closing(const Closing&) = delete;
    Closing& operator=(const Closing&) = delete;

   private:
    LoopGate& gate_;
  };

  explicit LoopGate(size_t loops) : loops_(loops) {}

 private:
  struct alignas(kCacheLineBytes) Loop {
    std::atomic<bool> inside{false};
  };

  std::vector<Loop> loops_;
  std::atomic<int> closed_{0};  // by so many
};

}  // namespace liststore::execute

#endif  // LISTSTORE_ENGINE_EXECUTE_LOOP_GATE_H_
