#include "bench/wire/wire_report.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "bench/measure/latency_json.h"
#include "bench/measure/median.h"
#include "bench/measure/report_head.h"
#include "programs/console/chart.h"
#include "programs/console/json_line.h"
#include "programs/console/terminal.h"
#include "programs/console/text.h"

namespace liststore {
namespace {

constexpr double kSelectsBar = 300'000;  // a second, with most under way

std::string Percent(const std::vector<double>& shares) {
  return shares.empty() ? "-" : absl::StrFormat("%.0f %%", 100 * Median(shares));
}

void PrintFigures(const char* name, const std::vector<double>& rates, const Histogram& latency,
                  const std::vector<double>& server_shares,
                  const std::vector<double>& client_shares, const std::vector<double>& core_rates,
                  std::FILE* out) {
  absl::FPrintF(out, "  %-20s %11s %8s %8s %8s   %7s %7s %13s\n", name,
                Grouped(static_cast<uint64_t>(Median(rates))), FormatNanos(latency.Percentile(50)),
                FormatNanos(latency.Percentile(99)), FormatNanos(latency.Percentile(99.9)),
                Percent(server_shares), Percent(client_shares),
                core_rates.empty() ? "-" : Grouped(static_cast<uint64_t>(Median(core_rates))));
}

void PrintLine(const WireLine& line, std::FILE* out) {
  PrintFigures(line.kind.name, line.rates, line.latency, line.server_shares, line.client_shares,
               line.core_rates, out);
}

void PrintCharts(const WireReport& report, const Style& style, std::FILE* out) {
  const TerminalLook look = LookOf(out);
  std::vector<ChartBar> bars;
  std::vector<ChartCurve> curves;
  const auto add = [&](const WireLine& line, bool is_other) {
    const double rate = Median(line.rates);
    bars.push_back(
        {line.kind.name, rate, Grouped(static_cast<uint64_t>(rate)), line.rates, is_other});
    curves.push_back({line.kind.name, &line.latency});
  };
  for (size_t i = 0; i < report.lines.size(); ++i) {
    add(report.lines[i], false);
    if (i < report.plain_lines.size()) add(report.plain_lines[i], true);
  }
  absl::FPrintF(out, "\n%s", BarChart("requests a second", bars, look, style));
  curves.push_back({"due at a rate: SELECT", &report.open.select_latency});
  curves.push_back({"due at a rate: INSERT", &report.open.insert_latency});
  absl::FPrintF(out, "\n%s", PercentileChart("latency by percentile", curves, look, style));
}

// The rate over TLS by the rate without.
void AddVsPlain(const WireLine& line, const WireLine& plain, JsonLine* json) {
  const std::string key = std::string(line.kind.key) + "_vs_plain";
  json->Add(key, Median(line.rates) / Median(plain.rates));
}

void AddHandshakes(const HandshakeLine& line, JsonLine* json) {
  if (line.rates.empty()) return;
  json->Count("handshakes", static_cast<uint64_t>(Median(line.rates)));
  json->Numbers("handshakes_rounds", line.rates);
  AddLatency("handshakes", line.latency, json);
  if (line.core_rates.empty()) return;
  json->Add("handshakes_server_share", Median(line.server_shares));
  json->Count("handshakes_per_core_second", static_cast<uint64_t>(Median(line.core_rates)));
}

}  // namespace

void PrintWireReport(const WireReport& report, std::FILE* out) {
  const Style style(out);
  const BenchWireOptions& options = report.options;
  const MachineFacts& machine = report.machine;
  PrintReportHead("bench wire", report.machine, out);
  const auto line = [out](std::string_view name, const std::string& text) {
    PrintReportLine(name, text, out);
  };
  line("built by", machine.compiler);
  line("data", absl::StrFormat("%s lists of %d items with values of %d bytes; loaded in %.1f s",
                               Grouped(options.lists), options.items_per_list, options.value_bytes,
                               report.load_seconds));
  line("server", options.via.empty()
                     ? absl::StrFormat("its own, one shard on core %d, the client on core %d; %s "
                                       "populated beforehand, %s resident when loaded",
                                       report.cores.server, report.cores.client,
                                       Bytes(report.populated_bytes), Bytes(report.resident_bytes))
                     : absl::StrCat(options.via, ", the client on core ", report.cores.client));
  line("measured",
       absl::StrFormat("%d round%s of %g s a line over %d connections; medians; latency from the "
                       "write of a request to the read of its reply",
                       options.rounds, options.rounds == 1 ? "" : "s", options.seconds,
                       options.connections));
  if (options.tls.IsWanted()) {
    line("TLS", report.plain_lines.empty()
                    ? "all of it"
                    : "all of it, with a key on P-256, but for lines that say plain; client and "
                      "server encrypt on a core each");
  }
  absl::FPrintF(out, "\n  %s\n",
                style.Dim(absl::StrFormat("%-20s %11s %8s %8s %8s   %7s %7s %13s",
                                          "prepared, in flight", "a second", "p50", "p99", "p99.9",
                                          "server", "client", "a core second")));
  for (size_t i = 0; i < report.lines.size(); ++i) {
    PrintLine(report.lines[i], out);
    if (i < report.plain_lines.size()) PrintLine(report.plain_lines[i], out);
  }
  if (!report.handshakes.rates.empty()) {
    const HandshakeLine& handshakes = report.handshakes;
    PrintFigures("handshakes in turn", handshakes.rates, handshakes.latency,
                 handshakes.server_shares, {}, handshakes.core_rates, out);
  }
  absl::FPrintF(out, "\n  %s\n",
                style.Dim(absl::StrFormat("%-20s %11s %8s %8s %8s", "due at a rate", "a second",
                                          "p50", "p99", "p99.9")));
  const auto due_line = [&](const char* name, const Histogram& latency) {
    absl::FPrintF(out, "  %-20s %11s %8s %8s %8s\n", name,
                  Grouped(static_cast<uint64_t>(report.open.achieved)),
                  FormatNanos(latency.Percentile(50)), FormatNanos(latency.Percentile(99)),
                  FormatNanos(latency.Percentile(99.9)));
  };
  const OpenRun& open = report.open;
  due_line("SELECT 10, 95 of 100", open.select_latency);
  due_line("INSERT 1, 5 of 100", open.insert_latency);
  if (open.quiet_latency.Count() != 0) due_line("both, undisturbed", open.quiet_latency);
  due_line("the machine alone", open.machine_waits);
  absl::FPrintF(out,
                "  %s requests a second, each sent at its instant; its time counts from when it "
                "was due.\n",
                Grouped(static_cast<uint64_t>(open.rate)));
  if (open.quiet_latency.Count() != 0) {
    absl::FPrintF(
        out, "  Undisturbed: %.0f %% of them, due while nobody else had one of the two cores\n",
        100 * open.QuietShare());
  }
  absl::FPrintF(out,
                "  The machine alone: what they would wait for their cores if they were answered "
                "in no time\n");
  PrintCharts(report, style, out);
  const double selects = Median(report.lines.front().rates);
  const std::string judged = absl::StrFormat(
      "%s SELECTs a second %s %s", Grouped(static_cast<uint64_t>(selects)),
      selects >= kSelectsBar ? ">=" : "<", Grouped(static_cast<uint64_t>(kSelectsBar)));
  absl::FPrintF(
      out, "\n  %s; %s\n", selects >= kSelectsBar ? style.Good(judged) : style.Bold(judged),
      options.unchecked ? "what the replies held was not looked at"
                        : Grouped(report.verified) + " replies read in full, all as expected");
}

void PrintWireReportJson(const WireReport& report, std::FILE* out) {
  JsonLine json;
  const BenchWireOptions& options = report.options;
  AddMachine(report.machine, &json);
  json.Count("lists", options.lists);
  json.Count("items_per_list", options.items_per_list);
  json.Count("value_bytes", options.value_bytes);
  json.Count("connections", options.connections);
  json.Add("seconds", options.seconds);
  json.Count("rounds", static_cast<uint64_t>(options.rounds));
  json.Count("seed", options.seed);
  json.Add("load_seconds", report.load_seconds);
  json.Count("server_populated_bytes", report.populated_bytes);
  json.Count("server_resident_bytes", report.resident_bytes);
  json.Count("tls", options.tls.IsWanted() ? 1 : 0);
  for (const WireLine& line : report.lines) AddWireLine(line, &json);
  for (size_t i = 0; i < report.plain_lines.size(); ++i) {
    AddWireLine(report.plain_lines[i], &json);
    AddVsPlain(report.lines[i], report.plain_lines[i], &json);
  }
  AddHandshakes(report.handshakes, &json);
  AddOpenRun(report.open, &json);
  json.Count("replies_verified", report.verified);
  absl::FPrintF(out, "%s\n", json.Finish());
}

}  // namespace liststore
