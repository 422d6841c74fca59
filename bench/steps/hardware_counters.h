// What the processor counts of this thread, where the kernel lets a process ask for it.
#ifndef LISTSTORE_BENCH_STEPS_HARDWARE_COUNTERS_H_
#define LISTSTORE_BENCH_STEPS_HARDWARE_COUNTERS_H_

#include <cstdint>

namespace liststore {

// Instructions and cycles of the thread that made it, outside of the kernel. Virtual machines often
// have neither.
class HardwareCounters {
 public:
  HardwareCounters();
  ~HardwareCounters();
  HardwareCounters(const HardwareCounters&) = delete;
  HardwareCounters& operator=(const HardwareCounters&) = delete;

  bool supported() const { return instructions_ >= 0 && cycles_ >= 0; }
  // Since it was made; 0 where they are not supported.
  uint64_t instructions() const { return Read(instructions_); }
  uint64_t cycles() const { return Read(cycles_); }

 private:
  static uint64_t Read(int file);

  int instructions_;
  int cycles_;
};

}  // namespace liststore

#endif  // LISTSTORE_BENCH_STEPS_HARDWARE_COUNTERS_H_
