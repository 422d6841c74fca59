#include "bench/load/core_gaps.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "engine/base/check.h"

namespace liststore {

int64_t SteadyNanos() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

std::vector<CoreGap> ReadClock(double seconds) {
  std::vector<CoreGap> gaps;
  const int64_t end = SteadyNanos() + static_cast<int64_t>(seconds * 1e9);
  for (int64_t last = SteadyNanos(); last < end;) {
    const int64_t now = SteadyNanos();
    if (now - last >= kCoreGapNanosMin) gaps.push_back({last, std::min(now, end)});
    last = now;
  }
  return gaps;
}

std::vector<CoreGap> WatchCores(const WireCores& cores, double seconds) {
  std::vector<CoreGap> gaps, of_client;
  const auto watch = [seconds](int core, std::vector<CoreGap>& of_core) {
    PinToCore(core);
    of_core = ReadClock(seconds);
  };
  std::thread server([&] { watch(cores.server, gaps); });
  if (cores.client != cores.server) {
    std::thread client([&] { watch(cores.client, of_client); });
    client.join();
  }
  server.join();
  gaps.insert(gaps.end(), of_client.begin(), of_client.end());
  return gaps;
}

Histogram WaitsForCores(std::vector<CoreGap> gaps, double rate, double seconds) {
  LS_CHECK(rate > 0 && seconds > 0, "a rate and a time are given");
  std::sort(gaps.begin(), gaps.end(),
            [](const CoreGap& a, const CoreGap& b) { return a.begin < b.begin; });
  const double apart = 1e9 / rate;
  Histogram waits;
  uint64_t waited = 0;
  for (size_t i = 0; i < gaps.size();) {
    const int64_t begin = gaps[i].begin;
    int64_t end = gaps[i].end;
    for (++i; i < gaps.size() && gaps[i].begin <= end; ++i) end = std::max(end, gaps[i].end);
    for (double left = static_cast<double>(end - begin); left > 0; left -= apart, ++waited) {
      waits.Record(static_cast<uint64_t>(left));
    }
  }
  const auto all = static_cast<uint64_t>(rate * seconds);
  if (waited < all) waits.Record(0, all - waited);
  return waits;
}

}  // namespace liststore
