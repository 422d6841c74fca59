#include "bench/wire/wire_line.h"

#include <sys/resource.h>

#include <algorithm>
#include <string>

#include "bench/load/closed_load.h"
#include "bench/measure/latency_json.h"
#include "bench/measure/median.h"
#include "engine/base/status_macros.h"

namespace liststore {
namespace {

uint64_t ThreadCpuNanos() {
  rusage usage = {};
  getrusage(RUSAGE_THREAD, &usage);
  const auto nanos = [](const timeval& time) {
    return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 +
           static_cast<uint64_t>(time.tv_usec) * 1'000;
  };
  return nanos(usage.ru_utime) + nanos(usage.ru_stime);
}

}  // namespace

absl::Status MeasureWireLine(LoadTarget& target, double seconds, const ServerNanos& server_nanos,
                             WireLine* line) {
  ClosedLoad load(target);
  ClosedRun run;
  LS_RETURN_IF_ERROR(load.Run(kLoadWarmUpShare * seconds, nullptr, &run));
  const uint64_t server_begin = server_nanos();
  const uint64_t client_begin = ThreadCpuNanos();
  LS_RETURN_IF_ERROR(load.Run(seconds, &line->latency, &run));
  const uint64_t server_end = server_nanos();
  const auto replies = static_cast<double>(run.replies);
  const auto share = [&run](uint64_t nanos) {
    return static_cast<double>(nanos) * 1e-9 / run.seconds;
  };
  line->rates.push_back(replies / run.seconds);
  const uint64_t client_nanos = ThreadCpuNanos() - client_begin;
  // Both clocks are coarse: a client that never waits may seem to have waited more than it ran.
  line->client_shares.push_back(share(client_nanos - std::min(client_nanos, run.idle_nanos)));
  if (server_end <= server_begin) return absl::OkStatus();
  const uint64_t spent = server_end - server_begin;
  line->server_shares.push_back(share(spent));
  line->core_rates.push_back(replies / (static_cast<double>(spent) * 1e-9));
  return absl::OkStatus();
}

void AddWireLine(const WireLine& line, JsonLine* json) {
  const std::string key = line.kind.key;
  json->Count(key, static_cast<uint64_t>(Median(line.rates)));
  json->Numbers(key + "_rounds", line.rates);
  AddLatency(key, line.latency, json);
  json->Add(key + "_client_share", Median(line.client_shares));
  if (line.reply_bytes > 0) json->Count(key + "_reply_bytes", line.reply_bytes);
  if (line.core_rates.empty()) return;
  json->Add(key + "_server_share", Median(line.server_shares));
  json->Count(key + "_per_core_second", static_cast<uint64_t>(Median(line.core_rates)));
}

}  // namespace liststore
