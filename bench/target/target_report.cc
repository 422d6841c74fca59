#include "bench/target/target_report.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "bench/measure/latency_json.h"
#include "bench/measure/report_head.h"
#include "programs/console/chart.h"
#include "programs/console/json_line.h"
#include "programs/console/terminal.h"
#include "programs/console/text.h"

namespace liststore {
namespace {

std::string Rate(double per_second) { return Grouped(static_cast<uint64_t>(per_second)); }

Histogram AllOf(const OpenRun& run) {
  Histogram all = run.select_latency;
  all.Merge(run.insert_latency);
  return all;
}

void PrintTimes(const char* name, const Histogram& latency, std::FILE* out) {
  absl::FPrintF(out, "    %-28s %9s %9s %9s\n", name, FormatNanos(latency.Percentile(50)),
                FormatNanos(latency.Percentile(99)), FormatNanos(latency.Percentile(99.9)));
}

void PrintSide(const TargetSide& side, const Style& style, std::FILE* out) {
  const OpenRun& run = side.run;
  absl::FPrintF(out, "\n  %s: %s operations a second, %s items fetched and %s stored a second\n",
                style.Bold(side.name), Rate(run.achieved),
                Rate(side.ReadsPerSecond() * static_cast<double>(kTargetItemsRead)),
                Rate(side.AdditionsPerSecond()));
  absl::FPrintF(out, "  %s\n",
                style.Dim(absl::StrFormat("  %-28s %9s %9s %9s", "from when it was due", "p50",
                                          "p99", "p99.9")));
  PrintTimes("reads of ten, 95 of 100", run.select_latency, out);
  PrintTimes("additions of one, 5 of 100", run.insert_latency, out);
  if (run.quiet_latency.Count() != 0) {
    PrintTimes(absl::StrFormat("undisturbed, %.0f %% of both", 100 * run.QuietShare()).c_str(),
               run.quiet_latency, out);
  }
  PrintTimes("the machine alone", run.machine_waits, out);
  const ChartCurve curves[] = {{"reads of ten", &run.select_latency},
                               {"additions of one", &run.insert_latency},
                               {"undisturbed", &run.quiet_latency},
                               {"the machine alone", &run.machine_waits}};
  absl::FPrintF(out, "\n%s",
                PercentileChart("from when it was due, by percentile", curves, LookOf(out), style));
}

}  // namespace

double TargetSide::ReadsPerSecond() const {
  const double share = static_cast<double>(run.select_latency.Count()) /
                       static_cast<double>(std::max<uint64_t>(AllOf(run).Count(), 1));
  return run.achieved * share;
}

double TargetSide::AdditionsPerSecond() const { return run.achieved - ReadsPerSecond(); }

bool TargetSide::JudgesUndisturbed() const { return run.QuietShare() >= kTargetQuietShareMin; }

uint64_t TargetSide::JudgedP99Nanos() const {
  return JudgesUndisturbed() ? run.quiet_latency.Percentile(99) : AllOf(run).Percentile(99);
}

std::vector<TargetVerdict> JudgeTarget(const TargetSide& side, const BenchTargetOptions& options) {
  const uint64_t p99 = side.JudgedP99Nanos();
  const double bar = options.p99_max_ms * 1e6;
  return {
      {absl::StrFormat("%s: %s of %s operations a second (%.1f %% of them at least)", side.name,
                       Rate(side.run.achieved), Rate(side.run.rate), 100 * kTargetAchievedShare),
       side.run.achieved >= kTargetAchievedShare * side.run.rate},
      {absl::StrFormat("%s: 99 of 100 within %s of their instant%s (%s at most)", side.name,
                       FormatNanos(p99),
                       side.JudgesUndisturbed() ? " while both cores were ours" : "",
                       FormatNanos(static_cast<uint64_t>(bar))),
       static_cast<double>(p99) <= bar},
  };
}

bool TargetReport::IsReached() const {
  return std::ranges::all_of(sides, [this](const TargetSide& side) {
    return std::ranges::all_of(JudgeTarget(side, options), &TargetVerdict::is_reached);
  });
}

void PrintTargetReport(const TargetReport& report, std::FILE* out) {
  const Style style(out);
  const BenchTargetOptions& options = report.options;
  PrintReportHead("bench target", report.machine, out);
  PrintReportLine(
      "data",
      absl::StrFormat("%s lists of %d items with values of %d bytes", Grouped(options.lists),
                      options.items_per_list, options.value_bytes),
      out);
  PrintReportLine("load",
                  absl::StrFormat("%s operations a second for %g s, 95 reads of ten items to 5 "
                                  "additions of one, each due at its instant; the client included",
                                  Rate(options.rate), options.seconds),
                  out);
  for (const TargetSide& side : report.sides) PrintSide(side, style, out);
  absl::FPrintF(out,
                "\n  Undisturbed: due while nobody else had one of the cores. The machine alone: "
                "what they would wait\n  for their cores if they were answered in no time.\n\n");
  for (const TargetSide& side : report.sides) {
    for (const TargetVerdict& verdict : JudgeTarget(side, options)) {
      const std::string text =
          absl::StrCat(verdict.is_reached ? "reached: " : "short:   ", verdict.text);
      absl::FPrintF(out, "  %s\n", verdict.is_reached ? style.Good(text) : style.Bold(text));
    }
  }
}

std::string TargetJson(const TargetReport& report) {
  JsonLine json;
  const BenchTargetOptions& options = report.options;
  AddMachine(report.machine, &json);
  json.Count("lists", options.lists);
  json.Count("items_per_list", options.items_per_list);
  json.Count("value_bytes", options.value_bytes);
  json.Count("threads", options.threads);
  json.Count("connections", options.connections);
  json.Add("seconds", options.seconds);
  json.Add("rate", options.rate);
  json.Add("p99_max_ms", options.p99_max_ms);
  for (const TargetSide& side : report.sides) {
    json.Add(side.key + "_per_s", side.run.achieved);
    json.Add(side.key + "_items_fetched_per_s",
             side.ReadsPerSecond() * static_cast<double>(kTargetItemsRead));
    json.Add(side.key + "_items_stored_per_s", side.AdditionsPerSecond());
    AddLatency(side.key + "_read", side.run.select_latency, &json);
    AddLatency(side.key + "_add", side.run.insert_latency, &json);
    AddLatency(side.key + "_quiet", side.run.quiet_latency, &json);
    json.Add(side.key + "_quiet_share", side.run.QuietShare());
    AddLatency(side.key + "_machine", side.run.machine_waits, &json);
    json.Count(side.key + "_judged_p99_ns", side.JudgedP99Nanos());
    json.Count(side.key + "_verified", side.verified);
  }
  json.Text("verdict", report.IsReached() ? "reached" : "short");
  return json.Finish();
}

}  // namespace liststore
