#include "engine/execute/loop_gate.h"

#include <chrono>
#include <thread>

namespace liststore::execute {

LoopGate::Closing::Closing(LoopGate& gate) : gate_(gate) {
  gate_.closed_.fetch_add(1, std::memory_order_seq_cst);
  for (const Loop& loop : gate_.loops_) {
    while (loop.inside.load(std::memory_order_seq_cst)) {
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }
}

}  // namespace liststore::execute
