// AnswerGate: what answers that say "written" wait for, once they are made and before they leave.
#ifndef LISTSTORE_ENGINE_NETWORK_ANSWER_GATE_H_
#define LISTSTORE_ENGINE_NETWORK_ANSWER_GATE_H_

#include <cstdint>
#include <functional>

namespace liststore::network {

// Owned by whoever made the server, outlives it. Each loop has numbers of its own, which never fall,
// from 1: whoever enters gets one and goes on when that has passed. What those who enter one behind the
// other need is done for them together, when the loop closes their round.
class AnswerGate {
 public:
  virtual ~AnswerGate() = default;

  // On the thread of loop `loop`, with answers at hand to what was written before this call. 0: what
  // they promise is kept, and they may leave. Else a number: they may when it has passed, which is
  // after CloseRound at the soonest. Throws std::bad_alloc, and nobody has entered, where the heap
  // refuses.
  virtual uint64_t Enter(uint32_t loop) = 0;
  // On that thread, soon after somebody has entered: begins what those wait for who have entered since
  // the last call. May wait for a file to be written, not for a disk. Throws std::bad_alloc, and is to
  // be called again, where the heap refuses.
  virtual void CloseRound(uint32_t loop) = 0;
  // The last number of the loop that has passed; 0: none yet. On its thread.
  virtual uint64_t Passed(uint32_t loop) = 0;
  // What is to be called, by any thread and without a lock of the gate, when numbers of this loop
  // have passed. Before the loop runs.
  virtual void TellOfPassing(uint32_t loop, std::function<void()> tell) = 0;
};

}  // namespace liststore::network

#endif  // LISTSTORE_ENGINE_NETWORK_ANSWER_GATE_H_
