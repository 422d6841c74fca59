#include "bench/embedded/embedded_report.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "bench/measure/latency_json.h"
#include "bench/measure/median.h"
#include "programs/console/chart.h"
#include "programs/console/json_line.h"
#include "programs/console/terminal.h"
#include "programs/console/text.h"

namespace liststore {
namespace {

// How many times the plain structure each line is meant to reach.
constexpr std::array<double, kBenchKinds> kBars = {3, 3, 8, 3, 3, 3, 2};
constexpr std::string_view kJudgedPeer = "plain";
constexpr double kThreadsBar = 1.7;
constexpr double kBytesPerItemBar = 110;
constexpr double kLimitBar = 1.05;

const char* Name(BenchKind kind) { return kBenchNames[static_cast<size_t>(kind)]; }
double Bar(BenchKind kind) { return kBars[static_cast<size_t>(kind)]; }

// `above` by `below`, round by round.
std::vector<double> RatiosOf(const std::vector<double>& above, const std::vector<double>& below) {
  std::vector<double> ratios;
  for (size_t i = 0; i < std::min(above.size(), below.size()); ++i) {
    if (below[i] > 0) ratios.push_back(above[i] / below[i]);
  }
  return ratios;
}
double MedianRatio(const std::vector<double>& above, const std::vector<double>& below) {
  return Median(RatiosOf(above, below));
}

// "4.2x of 3x", marked when it is met.
std::string Judged(const Style& style, double ratio, double bar) {
  const std::string text = absl::StrFormat("%5.2fx %s %gx", ratio, ratio >= bar ? ">=" : "< ", bar);
  return ratio >= bar ? style.Good(text) : style.Bold(text);
}

std::string Figures(const BenchFigures& figures) {
  return absl::StrFormat("%11s %7s %7s %7s", Grouped(static_cast<uint64_t>(Median(figures.rates))),
                         FormatNanos(figures.latency.Percentile(50)),
                         FormatNanos(figures.latency.Percentile(99)),
                         FormatNanos(figures.latency.Percentile(99.9)));
}

void PrintMachine(const BenchReport& report, const Style& style, std::FILE* out) {
  const MachineFacts& machine = report.machine;
  const BenchEmbeddedOptions& options = report.options;
  const auto line = [&](std::string_view name, const std::string& text) {
    absl::FPrintF(out, "  %s %s\n", style.Bold(Padded(std::string(name), 9)), text);
  };
  absl::FPrintF(out, "%s\n",
                style.Bold(absl::StrCat("liststore ", machine.version, ", bench embedded")));
  line("date", absl::StrCat(machine.date, " UTC"));
  line("machine",
       absl::StrFormat("%s, %d cores, %s; %s; huge pages: %s", machine.cpu, machine.cores,
                       Bytes(machine.memory_bytes), machine.kernel, machine.huge_pages));
  line("built by", machine.compiler);
  line("data",
       absl::StrFormat("%s lists of %d items with values of %d bytes", Grouped(options.lists),
                       options.items_per_list, options.value_bytes));
  line("cores",
       absl::StrFormat(
           "the thread that was timed had %.0f %% of one; ratios go by the time that it had",
           report.CoreShare() * 100));
  line("measured",
       absl::StrFormat("%d round%s of %g s a line and side, in turn; medians; latencies "
                       "include one reading of the clock, 25 ns or so",
                       options.rounds, options.rounds == 1 ? "" : "s", options.seconds));
}

void PrintLines(const BenchReport& report, const Style& style, std::FILE* out) {
  for (const bool zipf : {false, true}) {
    if (zipf && report.options.lines_only) break;
    absl::FPrintF(
        out, "\n  %s\n",
        style.Dim(absl::StrFormat("%-15s %11s %7s %7s %7s   %11s %7s %7s %7s   %s",
                                  zipf ? "Zipf 0.99" : "uniform", "a second", "p50", "p99", "p99.9",
                                  report.options.peer, "p50", "p99", "p99.9", "ratio")));
    for (const BenchLine& line : report.lines) {
      if (line.zipf != zipf) continue;
      absl::FPrintF(out, "  %-15s %s", Name(line.kind), Figures(line.ours));
      if (!line.peer.rates.empty()) {
        absl::FPrintF(out, "   %s   %s", Figures(line.peer),
                      report.options.peer == kJudgedPeer
                          ? Judged(style, line.Ratio(), Bar(line.kind))
                          : absl::StrFormat("%5.2fx", line.Ratio()));
      }
      absl::FPrintF(out, "\n");
    }
  }
  absl::FPrintF(
      out,
      "  a multi-get of 16 counts as 16 operations, its latency is that of all 16; lists that are "
      "written keep their size,\n  changed back between batches; writes include a slice of Reclaim "
      "every 256 (removals: 64)\n");
  if (report.threads.empty()) return;
  absl::FPrintF(out, "\n  %s\n",
                style.Dim(absl::StrFormat("%-15s %11s %11s   ratio", "uniform", "1 thread",
                                          absl::StrCat(report.options.threads, " threads"))));
  for (const BenchThreadsLine& line : report.threads) {
    absl::FPrintF(out, "  %-15s %11s %11s   %s\n", Name(line.kind),
                  Grouped(static_cast<uint64_t>(Median(line.one))),
                  Grouped(static_cast<uint64_t>(Median(line.many))),
                  Judged(style, line.Ratio(), kThreadsBar));
  }
}

// Uniform lists; latencies of some kinds.
void PrintCharts(const BenchReport& report, const Style& style, std::FILE* out) {
  constexpr BenchKind kCurves[] = {BenchKind::kGet10, BenchKind::kMultiGet16, BenchKind::kAdd1,
                                   BenchKind::kRemove};
  const TerminalLook look = LookOf(out);
  std::vector<ChartBar> bars;
  std::vector<ChartCurve> curves;
  for (const BenchLine& line : report.lines) {
    if (line.zipf) continue;
    const bool has_curve = std::ranges::find(kCurves, line.kind) != std::end(kCurves);
    const auto add = [&](const std::string& name, const BenchFigures& figures, bool is_other) {
      const double rate = Median(figures.rates);
      bars.push_back({name, rate, Grouped(static_cast<uint64_t>(rate)), figures.rates, is_other});
      if (has_curve) curves.push_back({name, &figures.latency});
    };
    add(Name(line.kind), line.ours, false);
    if (!line.peer.rates.empty()) add("  " + report.options.peer, line.peer, true);
  }
  absl::FPrintF(out, "\n%s", BarChart("operations a second", bars, look, style));
  absl::FPrintF(out, "\n%s", PercentileChart("latency by percentile", curves, look, style));
}

void PrintMemory(const BenchReport& report, const Style& style, std::FILE* out) {
  const BenchMemory& memory = report.memory;
  const double per_item = memory.PerItem(memory.resident_compacted);
  const std::string text =
      absl::StrFormat("%.1f bytes an item (%s %g)", per_item,
                      per_item <= kBytesPerItemBar ? "<=" : ">", kBytesPerItemBar);
  absl::FPrintF(out, "\n  %s %s of resident memory for %s items; %.1f before compaction\n",
                style.Bold("memory   "),
                per_item <= kBytesPerItemBar ? style.Good(text) : style.Bold(text),
                Grouped(memory.items), memory.PerItem(memory.resident_loaded));
  absl::FPrintF(out,
                "            the engine counts %.1f in use, %.1f in pages held (%.1f after all "
                "writes); loaded in %.1f s, "
                "compacted in %.1f s\n",
                memory.PerItem(memory.live_bytes), memory.PerItem(memory.held_bytes),
                memory.PerItem(memory.held_bytes_after), memory.load_seconds,
                memory.compact_seconds);
  if (memory.resident_peer > 0) {
    absl::FPrintF(out, "            %s: %.1f bytes an item; loaded in %.1f s\n", report.peer_title,
                  memory.PerItem(memory.resident_peer), memory.load_seconds_peer);
  }
}

void PrintWatch(std::string_view name, const ReadWatch& watch, std::FILE* out) {
  absl::FPrintF(out, "            %-8s %s; above 2 ms: %d, without waits for a core %d (max %s)\n",
                name, watch.latency.Summary(), watch.above_max, watch.above_max_on_core,
                FormatNanos(watch.longest_on_core_nanos));
}

void PrintClock(const ClockGaps& clock, std::FILE* out) {
  absl::FPrintF(out,
                "            a thread that only reads the clock, beside: above 2 ms: %d (max %s)\n",
                clock.above_max, FormatNanos(clock.longest_nanos));
}

void PrintSituations(const BenchReport& report, const Style& style, std::FILE* out) {
  const ExpiryResult& expiry = report.expiry;
  absl::FPrintF(out, "\n  %s %s rows expire in one second; all reclaimed after %.2f s; reads:\n",
                style.Bold("expiry   "), Grouped(expiry.rows), expiry.seconds);
  PrintWatch("before", expiry.quiet, out);
  PrintClock(expiry.clock, out);
  PrintWatch("then", expiry.reads, out);
  const DeletionResult& deletion = report.deletion;
  absl::FPrintF(out,
                "  %s a feature of %s lists: the call %.3f ms, its memory back after %.2f s "
                "(longest Reclaim(1000) %.3f ms), resident %s -> %s; reads of another one:\n",
                style.Bold("deletion "), Grouped(deletion.lists), deletion.call_seconds * 1e3,
                deletion.reclaim_seconds, deletion.longest_slice_seconds * 1e3,
                Bytes(deletion.resident_before), Bytes(deletion.resident_after));
  PrintWatch("before", deletion.quiet, out);
  PrintClock(deletion.clock, out);
  PrintWatch("then", deletion.reads, out);
  PrintWatch("control", deletion.control, out);
  PrintClock(deletion.control_clock, out);

  const LimitResult& limit = report.limit;
  const double ratio =
      static_cast<double>(limit.resident_bytes) / static_cast<double>(limit.limit_bytes);
  const std::string text = absl::StrFormat("resident memory grew to %.3f of it (%s %g)", ratio,
                                           ratio <= kLimitBar ? "<=" : ">", kLimitBar);
  absl::FPrintF(out, "  %s %s under %s mixed operations; %s; counted: %s\n",
                style.Bold("limit    "), Bytes(limit.limit_bytes), Grouped(limit.operations),
                ratio <= kLimitBar ? style.Good(text) : style.Bold(text), Bytes(limit.held_bytes));
  absl::FPrintF(out,
                "            %s additions refused, %d left something behind; %s lists as expected "
                "at the end\n",
                Grouped(limit.refused), limit.left_behind, Grouped(limit.lists_checked));
}

// --- JSON ---------------------------------------------------------------------------------------

void AddFigures(const std::string& key, const BenchFigures& figures, JsonLine* json) {
  json->Count(key, static_cast<uint64_t>(Median(figures.rates)));
  json->Numbers(key + "_rounds", figures.rates);
  AddLatency(key, figures.latency, json);
}

void AddWatch(const std::string& key, const ReadWatch& watch, JsonLine* json) {
  json->Count(key + "_reads", watch.latency.Count());
  json->Count(key + "_read_p999_ns", watch.latency.Percentile(99.9));
  json->Count(key + "_read_max_ns", watch.latency.Max());
  json->Count(key + "_read_max_on_core_ns", watch.longest_on_core_nanos);
  json->Count(key + "_reads_above_2ms", watch.above_max);
  json->Count(key + "_reads_above_2ms_on_core", watch.above_max_on_core);
}

void AddSetting(const BenchReport& report, JsonLine* json) {
  const BenchEmbeddedOptions& options = report.options;
  json->Text("version", report.machine.version);
  json->Text("date", report.machine.date);
  json->Text("cpu", report.machine.cpu);
  json->Count("cores", report.machine.cores);
  json->Count("memory_bytes", report.machine.memory_bytes);
  json->Text("kernel", report.machine.kernel);
  json->Text("huge_pages", report.machine.huge_pages);
  json->Text("compiler", report.machine.compiler);
  json->Count("lists", options.lists);
  json->Count("items_per_list", options.items_per_list);
  json->Count("value_bytes", options.value_bytes);
  json->Add("seconds", options.seconds);
  json->Count("rounds", static_cast<uint64_t>(options.rounds));
  json->Count("threads", options.threads);
  json->Count("seed", options.seed);
  json->Text("peer", options.peer);
  json->Add("core_share", report.CoreShare());
}

void AddMemory(const BenchReport& report, JsonLine* json) {
  const BenchMemory& memory = report.memory;
  const std::string& peer = report.options.peer;
  json->Count("items", memory.items);
  json->Add("bytes_per_item", memory.PerItem(memory.resident_compacted));
  json->Add("bytes_per_item_before_compaction", memory.PerItem(memory.resident_loaded));
  json->Add("bytes_per_item_engine", memory.PerItem(memory.live_bytes));
  json->Add("bytes_per_item_held", memory.PerItem(memory.held_bytes));
  json->Add("bytes_per_item_held_after_writes", memory.PerItem(memory.held_bytes_after));
  json->Add("load_seconds", memory.load_seconds);
  json->Add("compact_seconds", memory.compact_seconds);
  if (peer.empty()) return;
  json->Add("bytes_per_item_" + peer, memory.PerItem(memory.resident_peer));
  json->Add("load_seconds_" + peer, memory.load_seconds_peer);
}

void AddClock(const std::string& name, const ClockGaps& clock, JsonLine* json) {
  json->Count(name + "_clock_gaps_above_2ms", clock.above_max);
  json->Count(name + "_clock_gap_max_ns", clock.longest_nanos);
}

void AddSituations(const BenchReport& report, JsonLine* json) {
  json->Count("expiry_rows", report.expiry.rows);
  json->Add("expiry_seconds", report.expiry.seconds);
  AddWatch("expiry_quiet", report.expiry.quiet, json);
  AddClock("expiry_quiet", report.expiry.clock, json);
  AddWatch("expiry", report.expiry.reads, json);
  json->Count("deletion_lists", report.deletion.lists);
  json->Add("deletion_call_seconds", report.deletion.call_seconds);
  json->Add("deletion_reclaim_seconds", report.deletion.reclaim_seconds);
  json->Add("deletion_longest_slice_seconds", report.deletion.longest_slice_seconds);
  json->Count("deletion_resident_before", report.deletion.resident_before);
  json->Count("deletion_resident_after", report.deletion.resident_after);
  AddWatch("deletion_quiet", report.deletion.quiet, json);
  AddClock("deletion_quiet", report.deletion.clock, json);
  AddWatch("deletion", report.deletion.reads, json);
  AddWatch("deletion_control", report.deletion.control, json);
  AddClock("deletion_control", report.deletion.control_clock, json);
  const LimitResult& limit = report.limit;
  json->Count("limit_bytes", limit.limit_bytes);
  json->Count("limit_held_bytes", limit.held_bytes);
  json->Count("limit_resident_bytes", limit.resident_bytes);
  json->Add("limit_resident_ratio",
            static_cast<double>(limit.resident_bytes) / static_cast<double>(limit.limit_bytes));
  json->Count("limit_operations", limit.operations);
  json->Count("limit_refused", limit.refused);
  json->Count("limit_left_behind", limit.left_behind);
  json->Count("limit_lists_checked", limit.lists_checked);
}

}  // namespace

std::vector<double> BenchLine::Ratios() const { return RatiosOf(ours.core_rates, peer.core_rates); }
double BenchLine::Ratio() const { return Median(Ratios()); }
double BenchThreadsLine::Ratio() const { return MedianRatio(many, one); }

double BenchReport::CoreShare() const {
  std::vector<double> shares;
  for (const BenchLine& line : lines) {
    for (const BenchFigures* figures : {&line.ours, &line.peer}) {
      if (!figures->rates.empty())
        shares.push_back(MedianRatio(figures->rates, figures->core_rates));
    }
  }
  return Median(std::move(shares));
}

double BenchReport::ThreadsRatio() const {
  if (threads.empty()) return 0;
  double smallest = threads[0].Ratio();
  for (const BenchThreadsLine& line : threads) smallest = std::min(smallest, line.Ratio());
  return smallest;
}

void PrintBenchReport(const BenchReport& report, std::FILE* out) {
  const Style style(out);
  PrintMachine(report, style, out);
  PrintLines(report, style, out);
  PrintCharts(report, style, out);
  PrintMemory(report, style, out);
  if (!report.options.lines_only) PrintSituations(report, style, out);
  absl::FPrintF(out, "\n  all of it in %s\n",
                DurationText(static_cast<uint64_t>(report.elapsed_seconds)));
}

void PrintBenchReportJson(const BenchReport& report, std::FILE* out) {
  JsonLine json;
  AddSetting(report, &json);
  for (const BenchLine& line : report.lines) {
    const std::string key =
        std::string(kBenchKeys[static_cast<size_t>(line.kind)]) + (line.zipf ? "_zipf" : "");
    AddFigures(key, line.ours, &json);
    if (line.peer.rates.empty()) continue;
    const std::string& peer = report.options.peer;
    AddFigures(absl::StrCat(peer, "_", key), line.peer, &json);
    json.Add(absl::StrCat(key, "_vs_", peer), line.Ratio());
    json.Numbers(absl::StrCat(key, "_vs_", peer, "_rounds"), line.Ratios());
  }
  for (const BenchThreadsLine& line : report.threads) {
    const std::string key = kBenchKeys[static_cast<size_t>(line.kind)];
    json.Count(key + "_one_thread", static_cast<uint64_t>(Median(line.one)));
    json.Count(key + "_threads", static_cast<uint64_t>(Median(line.many)));
    json.Add(key + "_threads_ratio", line.Ratio());
  }
  if (!report.threads.empty()) {
    json.Add(report.options.threads == 2 ? "two_threads_ratio" : "threads_ratio",
             report.ThreadsRatio());
  }
  AddMemory(report, &json);
  if (!report.options.lines_only) AddSituations(report, &json);
  json.Add("elapsed_seconds", report.elapsed_seconds);
  absl::FPrintF(out, "%s\n", json.Finish());
}

}  // namespace liststore
