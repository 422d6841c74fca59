#include "bench/scale/scale_setup.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"

namespace liststore {

double ScaleResult::waiting_ns() const {
  return std::max(
      0.0, cores_ns - work_ns - transfer_ns - memory_ns - network_ns - journal_ns - switch_ns);
}

std::string ScaleResult::Limit() const {
  constexpr double kNothing = 0.02;
  std::pair<double, const char*> parts[] = {{waiting_ns(), "lanes"}, {transfer_ns, "lines"},
                                            {memory_ns, "memory"},   {network_ns, "network"},
                                            {journal_ns, "journal"}, {switch_ns, "threads"}};
  const auto& [nanos, name] = *std::ranges::max_element(parts);
  if (cores_ns <= 0 || nanos < kNothing * cores_ns) return "-";
  return absl::StrFormat("%s %.0f %%", name, 100 * nanos / cores_ns);
}

}  // namespace liststore
