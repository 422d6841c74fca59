#include "bench/overload/overload_report.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "bench/measure/report_head.h"
#include "engine/base/strings.h"
#include "programs/console/chart.h"
#include "programs/console/json_line.h"
#include "programs/console/terminal.h"
#include "programs/console/text.h"

namespace liststore {
namespace {

std::string Rate(double per_second) { return Grouped(static_cast<uint64_t>(per_second)); }

// Of a bar: answered, refused.
std::string_view AnsweredSign(const TerminalLook& look) { return look.has_blocks ? "█" : "#"; }
std::string_view RefusedSign(const TerminalLook& look) { return look.has_blocks ? "░" : "x"; }

// Answered and refused beside the best, ten signs for once.
std::string Bar(const OfferedRun& run, double best, const TerminalLook& look) {
  std::string bar;
  const auto append = [&](double rate, std::string_view sign) {
    const auto signs = std::lround(10 * rate / std::max(best, 1.0));
    for (int64_t i = 0; i < signs; ++i) bar += sign;
  };
  append(run.AnsweredPerSecond(), AnsweredSign(look));
  append(run.RefusedPerSecond(), RefusedSign(look));
  return bar;
}

void PrintRun(std::string_view name, const OfferedRun& run, double best, std::FILE* out) {
  absl::FPrintF(out, "  %-8s %11s %11s %11s %8s %8s %8s %8s  %s\n", std::string(name),
                Rate(run.SentPerSecond()), Rate(run.AnsweredPerSecond()),
                Rate(run.RefusedPerSecond()), FormatNanos(run.latency.Percentile(50)),
                FormatNanos(run.latency.Percentile(99)), FormatNanos(run.longest_nanos),
                run.refused == 0 ? "-" : FormatNanos(run.refusal_latency.Percentile(99)),
                Bar(run, best, LookOf(out)));
}

void PrintLatencies(const OverloadSide& side, const TerminalLook& look, const Style& style,
                    std::FILE* out) {
  std::vector<ChartCurve> curves;
  for (size_t i = 0; i < side.runs.size(); ++i) {
    curves.push_back({absl::StrFormat("%g x", kOverloadShares[i]), &side.runs[i].latency});
  }
  absl::FPrintF(out, "\n%s",
                PercentileChart("answers since they were due, by percentile", curves, look, style));
}

size_t JudgedIndex() {
  return static_cast<size_t>(std::ranges::find(kOverloadShares, kOverloadJudged) -
                             std::begin(kOverloadShares));
}

// --- Chart: what becomes of an offered load, and how long the answered ones took -----------------

constexpr double kWidth = 640;
constexpr double kHeight = 520;
constexpr double kLeft = 60;
constexpr double kRight = 620;
constexpr double kRatesTop = 50;
constexpr double kRatesBottom = 270;
constexpr double kTimesTop = 310;
constexpr double kTimesBottom = 480;
constexpr double kShareMax = 3;      // offered
constexpr double kRateShareMax = 2;  // answered or refused, beside the best
constexpr double kNanosMin = 1e5;
constexpr double kNanosMax = 1e10;

double XOf(double share) { return kLeft + (kRight - kLeft) * share / kShareMax; }
double YOfRate(double share) {
  return kRatesBottom - (kRatesBottom - kRatesTop) * std::min(share / kRateShareMax, 1.0);
}
double YOfTime(uint64_t nanos) {
  const double clamped = std::clamp(static_cast<double>(nanos), kNanosMin, kNanosMax);
  return kTimesBottom - (kTimesBottom - kTimesTop) * std::log10(clamped / kNanosMin) /
                            std::log10(kNanosMax / kNanosMin);
}

std::string SvgText(double x, double y, const std::string& text, const char* anchor) {
  return absl::StrFormat("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n", x, y, anchor,
                         text);
}

std::string SvgGridLine(double y, const std::string& label) {
  return absl::StrFormat(
             "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#ddd\"/>\n", kLeft, y,
             kRight, y) +
         SvgText(kLeft - 6, y + 4, label, "end");
}

template <typename YOf>
std::string SvgCurve(const OverloadSide& side, const char* style, YOf&& y_of) {
  std::string points;
  for (size_t i = 0; i < side.runs.size(); ++i) {
    absl::StrAppendFormat(&points, "%.1f,%.1f ", XOf(kOverloadShares[i]), y_of(side.runs[i]));
  }
  return absl::StrCat("<polyline points=\"", points, "\" fill=\"none\" ", style, "/>\n");
}

void AppendRuns(const OverloadSide& side, JsonLine* json) {
  const auto numbers = [&](const char* key, auto&& of) {
    std::vector<double> values;
    for (const OfferedRun& run : side.runs) values.push_back(static_cast<double>(of(run)));
    json->Numbers(side.key + key, values);
  };
  json->Add(side.key + "sustained_per_s", side.sustained);
  json->Add(side.key + "best_per_s", side.Best());
  numbers("due_per_s", [](const OfferedRun& run) { return run.rate; });
  numbers("sent_per_s", [](const OfferedRun& run) { return run.SentPerSecond(); });
  numbers("sent_late_share", [](const OfferedRun& run) {
    return run.sent == 0 ? 0 : static_cast<double>(run.sent_late) / static_cast<double>(run.sent);
  });
  numbers("answered_per_s", [](const OfferedRun& run) { return run.AnsweredPerSecond(); });
  numbers("refused_per_s", [](const OfferedRun& run) { return run.RefusedPerSecond(); });
  numbers("p50_ns", [](const OfferedRun& run) { return run.latency.Percentile(50); });
  numbers("p99_ns", [](const OfferedRun& run) { return run.latency.Percentile(99); });
  numbers("longest_ns", [](const OfferedRun& run) { return run.longest_nanos; });
  numbers("refusal_p99_ns",
          [](const OfferedRun& run) { return run.refusal_latency.Percentile(99); });
  json->Add(side.key + "after_answered_per_s", side.after.AnsweredPerSecond());
  json->Count(side.key + "after_p99_ns", side.after.latency.Percentile(99));
  json->Add(side.key + "after_last_refusal_s", side.after.last_refusal_seconds.value_or(0));
}

}  // namespace

double OverloadSide::Best() const {
  double best = sustained;
  for (const OfferedRun& run : runs) best = std::max(best, run.AnsweredPerSecond());
  return best;
}

std::vector<Verdict> Judge(const OverloadSide& side) {
  const OfferedRun& run = side.runs[JudgedIndex()];
  const std::string load = absl::StrFormat("at %g times the load", kOverloadJudged);
  const double offered = run.SentPerSecond() / run.rate;
  std::vector<Verdict> verdicts;
  verdicts.push_back({absl::StrFormat("%s: %.0f %% of it could be offered (%.0f %% at least)", load,
                                      100 * offered, 100 * kOfferedShareMin),
                      offered >= kOfferedShareMin});
  const double answered = run.AnsweredPerSecond() / std::max(side.Best(), 1.0);
  verdicts.push_back(
      {absl::StrFormat("%s: %s a second answered, %.1f %% of the best (bar: %.0f %%)", load,
                       Rate(run.AnsweredPerSecond()), 100 * answered, 100 * kAnsweredShareBar),
       answered >= kAnsweredShareBar});
  const uint64_t p99 = run.latency.Percentile(99);
  verdicts.push_back({absl::StrFormat("%s: 99 of 100 answers within %s (bar: %s)", load,
                                      FormatNanos(p99), FormatNanos(kAnsweredNanosBar)),
                      run.answered > 0 && p99 < kAnsweredNanosBar});
  const double last = side.after.last_refusal_seconds.value_or(0);
  verdicts.push_back(
      {absl::StrFormat("the load goes from %g times to %g: the last refusal after "
                       "%.3f s (bar: %g s)",
                       std::end(kOverloadShares)[-1], kOverloadAfter, last, kRecoverySecondsBar),
       last < kRecoverySecondsBar});
  return verdicts;
}

void PrintOverloadReport(const OverloadReport& report, std::FILE* out) {
  const Style style(out);
  const TerminalLook look = LookOf(out);
  const BenchOverloadOptions& options = report.options;
  PrintReportHead("bench overload", report.machine, out);
  const auto line = [out](std::string_view name, const std::string& text) {
    PrintReportLine(name, text, out);
  };
  line("data",
       absl::StrFormat("%s lists of %d items with values of %d bytes", Grouped(options.lists),
                       options.items_per_list, options.value_bytes));
  line("servers", absl::StrFormat("one shard on core %d, the client on core %d, %d connections; "
                                  "--queue-time-max %d",
                                  report.cores.server, report.cores.client, options.connections,
                                  options.queue_time_max_ms));
  line("measured",
       absl::StrFormat("%g s of each load, the first %g s not counted; 95 SELECTs of 10 items to 5 "
                       "INSERTs, each due at its instant; its time counts from then",
                       options.seconds, report.first_seconds));
  for (const OverloadSide& side : report.sides) {
    absl::FPrintF(out, "\n  %s: %s a second sustained by a closed load\n", style.Bold(side.name),
                  Rate(side.sustained));
    absl::FPrintF(
        out, "  %s\n",
        style.Dim(absl::StrFormat("%-8s %11s %11s %11s %8s %8s %8s %8s  %s", "load", "sent/s",
                                  "answered/s", "refused/s", "p50", "p99", "longest", "refused",
                                  absl::StrCat(ToAbsl(AnsweredSign(look)), " answered, ",
                                               ToAbsl(RefusedSign(look)), " refused"))));
    for (size_t i = 0; i < side.runs.size(); ++i) {
      PrintRun(absl::StrFormat("%g x", kOverloadShares[i]), side.runs[i], side.Best(), out);
    }
    PrintRun("after", side.after, side.Best(), out);
    PrintLatencies(side, look, style, out);
  }
  absl::FPrintF(
      out,
      "\n  p50, p99 and longest: of answers; longest: the first moments included; refused: "
      "p99 of refusals.\n  after: the load goes back from the last one to %g x at once.\n\n",
      kOverloadAfter);
  for (const Verdict& verdict : Judge(report.sides.front())) {
    const std::string text =
        absl::StrCat(verdict.is_reached ? "reached: " : "short:   ", verdict.text);
    absl::FPrintF(out, "  %s\n", verdict.is_reached ? style.Good(text) : style.Bold(text));
  }
}

std::string OverloadJson(const OverloadReport& report) {
  JsonLine json;
  const BenchOverloadOptions& options = report.options;
  AddMachine(report.machine, &json);
  json.Count("lists", options.lists);
  json.Count("items_per_list", options.items_per_list);
  json.Count("value_bytes", options.value_bytes);
  json.Count("connections", options.connections);
  json.Count("queue_time_max_ms", options.queue_time_max_ms);
  json.Add("seconds", options.seconds);
  json.Add("first_seconds", report.first_seconds);
  json.Numbers("loads",
               std::vector<double>(std::begin(kOverloadShares), std::end(kOverloadShares)));
  for (const OverloadSide& side : report.sides) AppendRuns(side, &json);
  bool is_reached = true;
  for (const Verdict& verdict : Judge(report.sides.front())) is_reached &= verdict.is_reached;
  json.Text("verdict", is_reached ? "reached" : "short");
  return json.Finish();
}

std::string OverloadSvg(const OverloadReport& report) {
  std::string svg = absl::StrFormat(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n"
      "<title>What becomes of an offered load</title>\n"
      "<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n",
      kWidth, kHeight);
  for (const double share : {0.0, 0.5, 1.0, 1.5, 2.0}) {
    svg += SvgGridLine(YOfRate(share), absl::StrFormat("%.0f %%", 100 * share));
  }
  for (const auto& [nanos, label] : {std::pair<uint64_t, const char*>{100'000, "0.1 ms"},
                                     {1'000'000, "1 ms"},
                                     {10'000'000, "10 ms"},
                                     {100'000'000, "0.1 s"},
                                     {1'000'000'000, "1 s"},
                                     {10'000'000'000, "10 s"}}) {
    svg += SvgGridLine(YOfTime(nanos), label);
  }
  for (const double share : kOverloadShares) {
    svg += SvgText(XOf(share), kTimesBottom + 18, absl::StrFormat("%g x", share), "middle");
  }
  svg += SvgText(kLeft, kRatesTop - 12, "a second, of the most that was answered", "start");
  svg += SvgText(kLeft, kTimesTop - 8, "p99 of answers since they were due", "start");
  svg += SvgText((kLeft + kRight) / 2, kTimesBottom + 34, "offered, of what can be sustained",
                 "middle");
  constexpr const char* kColours[] = {"#1b9e77", "#d95f02"};
  double legend = kLeft;
  for (size_t i = 0; i < report.sides.size() && i < std::size(kColours); ++i) {
    const OverloadSide& side = report.sides[i];
    const double best = std::max(side.Best(), 1.0);
    const std::string solid = absl::StrFormat("stroke=\"%s\" stroke-width=\"2\"", kColours[i]);
    const std::string dashed = absl::StrCat(solid, " stroke-dasharray=\"5 4\"");
    svg += SvgCurve(side, solid.c_str(),
                    [&](const OfferedRun& run) { return YOfRate(run.AnsweredPerSecond() / best); });
    if (i == 0) {
      svg += SvgCurve(side, dashed.c_str(), [&](const OfferedRun& run) {
        return YOfRate(run.RefusedPerSecond() / best);
      });
    }
    svg += SvgCurve(side, solid.c_str(),
                    [](const OfferedRun& run) { return YOfTime(run.latency.Percentile(99)); });
    absl::StrAppendFormat(&svg,
                          "<rect x=\"%.0f\" y=\"10\" width=\"10\" height=\"10\" fill=\"%s\"/>\n",
                          legend, kColours[i]);
    svg += SvgText(legend + 15, 19, side.name + (i == 0 ? " (dashed: refused)" : ""), "start");
    legend += 190;
  }
  return svg + "</svg>\n";
}

}  // namespace liststore
