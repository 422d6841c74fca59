// What a benchmark says about the machine it ran on, and what the kernel says about the process.
#ifndef LISTSTORE_BENCH_MEASURE_MACHINE_H_
#define LISTSTORE_BENCH_MEASURE_MACHINE_H_

#include <cstdint>
#include <string>

namespace liststore {

struct MachineFacts {
  std::string cpu;
  uint32_t cores = 0;
  uint64_t memory_bytes = 0;
  std::string kernel;
  std::string huge_pages;  // transparent ones: "always", "madvise" or "never"
  std::string compiler;    // with its version and what of its flags can be told
  std::string version;     // of liststore
  std::string date;        // UTC
};

MachineFacts ReadMachineFacts();

// Resident memory of this process. 0: the kernel does not say.
uint64_t ResidentBytes();

// How long the calling thread has been ready to run while others had the cores, since it began. For
// waits inside of one thread: not thread-safe, used by the thread that made it.
class RunQueueWait {
 public:
  RunQueueWait();
  ~RunQueueWait();
  RunQueueWait(const RunQueueWait&) = delete;
  RunQueueWait& operator=(const RunQueueWait&) = delete;
  // 0 when the kernel does not count it. About 1 us.
  uint64_t Nanos() const;

 private:
  int file_;
};

}  // namespace liststore

#endif  // LISTSTORE_BENCH_MEASURE_MACHINE_H_
