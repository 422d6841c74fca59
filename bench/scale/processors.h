// Time, cores, and the threads on them: the part of the simulation that stands for the machine.
#ifndef LISTSTORE_BENCH_SCALE_PROCESSORS_H_
#define LISTSTORE_BENCH_SCALE_PROCESSORS_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <queue>
#include <vector>

namespace liststore {

// Simulated time in picoseconds: sums are exact, so that equal seeds give equal results everywhere.
using Picos = uint64_t;
// Rounded to the picosecond.
Picos ToPicos(double nanos);

// Threads on cores. Each belongs to one core, has work to do or sleeps, and gives its core away when its
// slice is over and another one is ready. Events at one instant come in the order in which they were made.
//
// One thread (of the program that simulates). O(log threads) an event.
class Processors {
 public:
  static constexpr Picos kForever = std::numeric_limits<Picos>::max();

  struct Costs {
    Picos slice = 0;
    Picos change = 0;  // from one thread to another
  };

  // Thread i is on core i modulo `cores`. All sleep at first.
  Processors(uint32_t threads, uint32_t cores, Costs costs);

  // What comes next: a thread has done its work, or a thread that was waiting for its core has it again.
  struct Event {
    enum class Kind : uint8_t {
      kNone,
      kDone,
      kOnCore
    };
    Kind kind = Kind::kNone;
    uint32_t thread = 0;
  };
  // The next event up to `end`, to which time goes otherwise (kNone).
  Event Next(Picos end);

  // The thread, which is awake, does that much work from now on, or from when it has its core; in the place
  // of what it was doing. kForever: it spins.
  void Work(uint32_t thread, Picos duration);
  // Lets others that are ready go first. False: nobody is, and it keeps its core.
  bool Yield(uint32_t thread);
  // Gives its core away until Wake.
  void Sleep(uint32_t thread);
  // It is ready after `delay`, with that much work.
  void Wake(uint32_t thread, Picos delay, Picos duration);

  Picos now() const { return now_; }
  uint32_t core_of(uint32_t thread) const { return thread % static_cast<uint32_t>(cores_.size()); }
  bool OnCore(uint32_t thread) const { return threads_[thread].state == State::kOnCore; }
  Picos changing() const { return changing_; }  // time that changes of threads took, in all

 private:
  enum class State : uint8_t {
    kAsleep,
    kReady,
    kOnCore
  };
  struct Thread {
    State state = State::kAsleep;
    Picos work = kForever;    // left when it was last off its core, or from `began` on
    Picos began = 0;          // on its core: from when on it works
    uint64_t generation = 0;  // of its last promise of an end; earlier ones are void
  };
  struct Core {
    std::deque<uint32_t> ready;
    bool busy = false;
    uint32_t thread = 0;      // on it, or the last that was
    bool slice_over = false;  // and nobody was ready then
    uint64_t generation = 0;  // of the slice
  };
  enum class Kind : uint8_t {
    kDone,
    kSliceOver,
    kAwake,
    kOnCore
  };
  struct Promise {
    Picos at;
    uint64_t order;
    uint64_t generation;
    Kind kind;
    uint32_t number;  // of a thread, or a core
    bool operator>(const Promise& other) const {
      return at != other.at ? at > other.at : order > other.order;
    }
  };

  void Promised(Picos at, Kind kind, uint32_t number, uint64_t generation);
  void PromiseEnd(uint32_t thread);
  void Ready(uint32_t thread);
  void Dispatch(Core& core);
  void PutBack(Core& core);
  void SliceOver(Core& core);
  Core& CoreOf(uint32_t thread) { return cores_[core_of(thread)]; }

  const Costs costs_;
  std::vector<Thread> threads_;
  std::vector<Core> cores_;
  std::priority_queue<Promise, std::vector<Promise>, std::greater<Promise>> promises_;
  Picos now_ = 0;
  Picos changing_ = 0;
  uint64_t orders_ = 0;
};

}  // namespace liststore

#endif  // LISTSTORE_BENCH_SCALE_PROCESSORS_H_
