#include "tools/replay/replay_report.h"

#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "programs/console/terminal.h"
#include "programs/console/text.h"

namespace liststore {
namespace {

Histogram AllOperations(const ReplayTimes& times) {
  Histogram all;
  for (const Histogram& kind : times.operations) all.Merge(kind);
  return all;
}

double Microseconds(uint64_t nanos) { return static_cast<double>(nanos) * 1e-3; }

// Operations a second while this kind was executed.
uint64_t Rate(const Histogram& latency) {
  return latency.Mean() > 0 ? static_cast<uint64_t>(1e9 / latency.Mean()) : 0;
}

void PrintLatencies(std::string_view name, const Histogram& latency, std::FILE* out) {
  absl::FPrintF(out, "  %-15s %11s %11s %9.2f %9.2f %9.2f %9.1f\n", name, Grouped(latency.Count()),
                Grouped(Rate(latency)), Microseconds(latency.Percentile(50)),
                Microseconds(latency.Percentile(99)), Microseconds(latency.Percentile(99.9)),
                Microseconds(latency.Max()));
}

std::string LatencyJson(const Histogram& latency) {
  return absl::StrFormat("\"p50_us\":%.3f,\"p99_us\":%.3f,\"p99_9_us\":%.3f,\"max_us\":%.3f",
                         Microseconds(latency.Percentile(50)), Microseconds(latency.Percentile(99)),
                         Microseconds(latency.Percentile(99.9)), Microseconds(latency.Max()));
}

}  // namespace

void PrintReport(const ReplayReport& report, std::FILE* out) {
  const Style style(out);
  const auto line = [&](std::string_view name, const std::string& text) {
    absl::FPrintF(out, "  %s %s\n", style.Bold(Padded(std::string(name), 9)), text);
  };
  const ReplayTotals& totals = report.totals;

  absl::FPrintF(out, "%s\n", style.Bold(report.log_path));
  if (report.operations > 0) {
    line("span", absl::StrCat(UtcTime(report.first_at_nanos), " to ", UtcTime(report.last_at_nanos),
                              " UTC"));
  }
  line("reads",
       absl::StrCat(Grouped(totals.reads), " returned ", Grouped(totals.returned), " items"));
  line("items",
       absl::StrCat(Grouped(totals.stored), " stored, ", Grouped(totals.removed_live),
                    " removed while alive, ", Grouped(totals.live_at_end), " live at the end"));
  const std::string skipped =
      absl::StrCat(Grouped(totals.skipped_expired), " had expired when they arrived");
  line("expired", report.server.empty()
                      ? absl::StrCat(Grouped(report.expired), " in the store, ", skipped)
                      : skipped);
  if (report.server.empty()) {
    line("memory",
         absl::StrFormat("%.1f bytes an item: %s for %s items at the fullest, in pages of %s",
                         report.memory.BytesPerItem(), Bytes(report.memory.live_bytes),
                         Grouped(report.memory.rows), Bytes(report.memory.held_bytes)));
  }
  if (report.compared) {
    line("answers", style.Good(absl::StrCat("all ", Grouped(totals.reads),
                                            " reads and the summary as expected")));
  }
  line("md5", totals.md5);
  const std::string rate = style.Bold(Grouped(static_cast<uint64_t>(report.OperationsPerSecond())));
  if (report.server.empty()) {
    line("speed", absl::StrFormat("%s operations a second; %.3f s in the engine, %.3f s giving "
                                  "memory back, %.2f s in all",
                                  rate, report.EngineSeconds(),
                                  static_cast<double>(report.times.reclaim_nanos) * 1e-9,
                                  report.elapsed_seconds));
  } else {
    line("speed", absl::StrFormat("%s operations a second; %.3f s waiting for answers, %.2f s in "
                                  "all",
                                  rate, report.EngineSeconds(), report.elapsed_seconds));
  }
  absl::FPrintF(out, "\n  %s\n",
                style.Dim(absl::StrFormat("%-15s %11s %11s %9s %9s %9s %9s", "latency in us",
                                          "count", "a second", "p50", "p99", "p99.9", "max")));
  for (size_t kind = 0; kind < kOperationKinds; ++kind) {
    if (report.times.operations[kind].Count() == 0) continue;
    PrintLatencies(kOperationNames[kind], report.times.operations[kind], out);
  }
  PrintLatencies("all", AllOperations(report.times), out);
  if (!report.server.empty()) {
    absl::FPrintF(out, "  one connection to %s, one request at a time\n", report.server);
    return;
  }
  absl::FPrintF(out, "  one thread, %d shard%s, %d round%s\n", report.shards,
                report.shards == 1 ? "" : "s", report.rounds, report.rounds == 1 ? "" : "s");
}

void PrintReportJson(const ReplayReport& report, std::FILE* out) {
  const ReplayTotals& totals = report.totals;
  std::string json = absl::StrFormat(
      "{\"operations\":%d,\"reads\":%d,\"returned\":%d,\"stored\":%d,\"skipped_expired\":%d,"
      "\"removed_live\":%d,\"live_at_end\":%d,\"md5\":\"%s\"",
      report.operations, totals.reads, totals.returned, totals.stored, totals.skipped_expired,
      totals.removed_live, totals.live_at_end, totals.md5);
  absl::StrAppendFormat(&json, ",\"seconds\":%.6f,\"ops_per_s\":%.0f,\"bytes_per_item\":%.1f",
                        report.EngineSeconds(), report.OperationsPerSecond(),
                        report.memory.BytesPerItem());
  absl::StrAppendFormat(
      &json,
      ",\"expired\":%d,\"peak_rows\":%d,\"peak_live_bytes\":%d,\"peak_held_bytes\":%d,"
      "\"shards\":%d,\"rounds\":%d,\"compared\":%s,\"reclaim_seconds\":%.6f,\"elapsed_seconds\":%."
      "3f",
      report.expired, report.memory.rows, report.memory.live_bytes, report.memory.held_bytes,
      report.shards, report.rounds, report.compared ? "true" : "false",
      static_cast<double>(report.times.reclaim_nanos) * 1e-9, report.elapsed_seconds);
  absl::StrAppend(&json, ",", LatencyJson(AllOperations(report.times)), ",\"by_operation\":{");
  const char* separator = "";
  for (size_t kind = 0; kind < kOperationKinds; ++kind) {
    const Histogram& latency = report.times.operations[kind];
    if (latency.Count() == 0) continue;
    absl::StrAppendFormat(&json, "%s\"%s\":{\"count\":%d,\"ops_per_s\":%d,%s}", separator,
                          kOperationNames[kind], latency.Count(), Rate(latency),
                          LatencyJson(latency));
    separator = ",";
  }
  absl::FPrintF(out, "%s}}\n", json);
}

}  // namespace liststore
