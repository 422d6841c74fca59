#include "engine/command/memory_refusal.h"

namespace liststore {

std::string MemoryRefusal::Text() const {
  const std::string limit = "the memory limit of " + std::to_string(limit_bytes) + " bytes";
  if (machine_bytes == 0 && has_mark) {
    return limit +
           " is reached, with what the mark of liststore.data keeps of what was changed since: a "
           "'reset' or 'forget' gives it back";
  }
  if (machine_bytes == 0) return limit + " is reached";
  return "the machine refuses " + std::to_string(machine_bytes) + " bytes below " + limit +
         ": give the process more (ulimit -v, ulimit -l, vm.max_map_count, vm.overcommit_memory) "
         "or lower the limit";
}

}  // namespace liststore
