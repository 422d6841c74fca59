#include "bench/steps/hardware_counters.h"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace liststore {
namespace {

int OpenCounter(uint64_t event) {
  perf_event_attr wanted = {};
  wanted.type = PERF_TYPE_HARDWARE;
  wanted.size = sizeof(wanted);
  wanted.config = event;
  wanted.exclude_kernel = 1;
  wanted.exclude_hv = 1;
  return static_cast<int>(::syscall(SYS_perf_event_open, &wanted, 0, -1, -1, 0));
}

}  // namespace

HardwareCounters::HardwareCounters()
    : instructions_(OpenCounter(PERF_COUNT_HW_INSTRUCTIONS)),
      cycles_(OpenCounter(PERF_COUNT_HW_CPU_CYCLES)) {}

HardwareCounters::~HardwareCounters() {
  if (instructions_ >= 0) ::close(instructions_);
  if (cycles_ >= 0) ::close(cycles_);
}

uint64_t HardwareCounters::Read(int file) {
  uint64_t count = 0;
  return file >= 0 && ::read(file, &count, sizeof(count)) == sizeof(count) ? count : 0;
}

}  // namespace liststore
