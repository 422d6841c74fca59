#include "bench/cache/cache_report.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "programs/console/chart.h"
#include "programs/console/terminal.h"

namespace liststore {
namespace {

// --- Chart: panels side by side ------------------------------------------------------------------

constexpr double kPanelWidth = 250;
constexpr double kPanelHeight = 230;
constexpr double kPlotLeft = 40;
constexpr double kPlotTop = 34;
constexpr double kPlotWidth = 190;
constexpr double kPlotHeight = 150;
constexpr double kLegendHeight = 30;
constexpr size_t kPanelsInRow = 3;
constexpr const char* kColours[] = {"#999999", "#d95f02", "#7570b3", "#1b9e77", "#1f78b4"};
constexpr const char* kStoreColour = "#000000";

double XOf(double percent) { return kPlotLeft + kPlotWidth * std::log(percent) / std::log(25.0); }
double YOf(double hit_rate) { return kPlotTop + kPlotHeight * (1 - hit_rate); }

std::string Text(double x, double y, const std::string& text, const char* anchor = "middle") {
  return absl::StrFormat("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n", x, y, anchor,
                         text);
}

std::string Panel(const std::vector<const BenchCacheLine*>& lines) {
  std::string svg = Text(kPlotLeft + kPlotWidth / 2, 20, lines.front()->trace);
  for (int tenth = 0; tenth <= 10; tenth += 2) {
    const double y = YOf(tenth / 10.0);
    absl::StrAppendFormat(&svg,
                          "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" "
                          "stroke=\"#dddddd\"/>\n",
                          kPlotLeft, y, kPlotLeft + kPlotWidth, y);
    svg += Text(kPlotLeft - 5, y + 4, absl::StrCat(tenth * 10), "end");
  }
  for (const BenchCacheLine* line : lines) {
    svg +=
        Text(XOf(line->percent), kPlotTop + kPlotHeight + 16, absl::StrFormat("%g", line->percent));
  }
  for (size_t policy = 0; policy < std::size(kCachePolicies); ++policy) {
    std::string points;
    for (const BenchCacheLine* line : lines) {
      absl::StrAppendFormat(&points, "%.1f,%.1f ", XOf(line->percent),
                            YOf(line->hit_rates[policy]));
    }
    absl::StrAppendFormat(
        &svg, "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"1.5\"/>\n",
        points, kColours[policy]);
  }
  for (const BenchCacheLine* line : lines) {
    if (!line->store) continue;
    absl::StrAppendFormat(&svg, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n",
                          XOf(line->percent), YOf(line->store->hit_rate), kStoreColour);
  }
  return svg;
}

std::string Chart(const BenchCacheReport& report) {
  std::vector<std::vector<const BenchCacheLine*>> panels;
  for (const BenchCacheLine& line : report.lines) {
    if (panels.empty() || panels.back().front()->trace != line.trace) panels.emplace_back();
    panels.back().push_back(&line);
  }
  const size_t rows = (panels.size() + kPanelsInRow - 1) / kPanelsInRow;
  const double width = kPanelWidth * static_cast<double>(std::min(panels.size(), kPanelsInRow));
  const double height = kPanelHeight * static_cast<double>(rows) + kLegendHeight;
  std::string svg = absl::StrFormat(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
      "font-family=\"sans-serif\" font-size=\"11\">\n"
      "<title>Hit rate in per cent, by size in per cent of all lists</title>\n"
      "<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n",
      width, height);
  double x = 20;
  for (size_t policy = 0; policy <= std::size(kCachePolicies); ++policy) {
    const bool store = policy == std::size(kCachePolicies);
    const std::string name = store ? "the store" : std::string(NameOf(kCachePolicies[policy]));
    absl::StrAppendFormat(&svg,
                          "<rect x=\"%.0f\" y=\"10\" width=\"10\" height=\"10\" fill=\"%s\"/>\n", x,
                          store ? kStoreColour : kColours[policy]);
    svg += Text(x + 15, 19, name, "start");
    x += 30 + 7 * static_cast<double>(name.size());
  }
  for (size_t i = 0; i < panels.size(); ++i) {
    absl::StrAppendFormat(&svg, "<g transform=\"translate(%.0f,%.0f)\">\n",
                          kPanelWidth * static_cast<double>(i % kPanelsInRow),
                          kLegendHeight + kPanelHeight * static_cast<double>(i / kPanelsInRow));
    svg += Panel(panels[i]);
    svg += "</g>\n";
  }
  return svg + "</svg>\n";
}

std::string Percent(double rate) { return absl::StrFormat("%.1f", 100 * rate); }

// The size of the bars.
constexpr double kChartedPercent = 10;

void PrintHitRateBars(const BenchCacheReport& report, std::FILE* out) {
  const Style style(out);
  const TerminalLook look = LookOf(out);
  for (const BenchCacheLine& line : report.lines) {
    if (line.percent != kChartedPercent) continue;
    std::vector<ChartBar> bars;
    for (size_t i = 0; i < std::size(kCachePolicies); ++i) {
      bars.push_back({std::string(NameOf(kCachePolicies[i])),
                      line.hit_rates[i],
                      Percent(line.hit_rates[i]) + " %",
                      {},
                      /*is_other=*/true});
    }
    if (line.store) {
      bars.push_back({"the store", line.store->hit_rate, Percent(line.store->hit_rate) + " %"});
    }
    absl::FPrintF(
        out, "\n%s",
        BarChart(absl::StrFormat("hits, %s, room for %g %% of the lists", line.trace, line.percent),
                 bars, look, style));
  }
}

void PrintFlood(const BenchFlood& flood, std::FILE* out) {
  constexpr double kMiB = 1 << 20;
  absl::FPrintF(
      out,
      "\n%d lists of one item through a limit of %.0f MiB: held at most %.1f MiB, resident "
      "at most %.1f MiB (%.1f %% of the limit), %d lists at the end, %.0f bytes each in use, "
      "%d evictions.\nAdditions at the limit: %.0f/s; %s\n",
      flood.lists, static_cast<double>(flood.limit_bytes) / kMiB,
      static_cast<double>(flood.held_bytes_max) / kMiB,
      static_cast<double>(flood.resident_bytes_max) / kMiB,
      100 * static_cast<double>(flood.resident_bytes_max) / static_cast<double>(flood.limit_bytes),
      flood.lists_held,
      static_cast<double>(flood.live_bytes) / static_cast<double>(flood.lists_held),
      flood.evictions, flood.additions_per_second, flood.latency.Summary());
}

void PrintHits(const BenchHits& hits, std::FILE* out) {
  absl::FPrintF(out,
                "\nOn lists that are there, operations a second of the core:\n\n"
                "| | store | that evicts | without counts by feature | plain, LRU | evicts / LRU "
                "| with / without counts |\n|---|---|---|---|---|---|---|\n");
  const auto line = [&](const char* name, const BenchHitRates& rates) {
    absl::FPrintF(out, "| %s | %.0f | %.0f | %.0f | %.0f | %.2f | %.3f |\n", name, rates.store,
                  rates.evicting_store, rates.without_features, rates.lru, rates.vs_lru,
                  rates.features_share);
  };
  line("10 items read", hits.reads);
  line("9 reads to 1 addition", hits.mixed);
}

void AppendHits(const char* name, const BenchHitRates& rates, std::string& json) {
  absl::StrAppendFormat(&json,
                        ",\"%s_store\":%.0f,\"%s_evicting\":%.0f,"
                        "\"%s_without_features\":%.0f,\"%s_lru\":%.0f,"
                        "\"%s_vs_lru\":%.3f,\"%s_features_share\":%.3f",
                        name, rates.store, name, rates.evicting_store, name, rates.without_features,
                        name, rates.lru, name, rates.vs_lru, name, rates.features_share);
}

}  // namespace

void PrintBenchCacheReport(const BenchCacheReport& report, std::FILE* out) {
  absl::FPrintF(out,
                "Hit rates in per cent. \"LRU as large\": LRU that holds as many lists as the "
                "store did on average.\n\n");
  absl::FPrintF(out, "| trace | size | lists |");
  for (const CachePolicyKind kind : kCachePolicies) {
    absl::FPrintF(out, " %s |", std::string(NameOf(kind)));
  }
  absl::FPrintF(out, " store | it held | LRU as large | FIFO as large |\n|---|---|---|");
  for (size_t i = 0; i < std::size(kCachePolicies) + 4; ++i) absl::FPrintF(out, "---|");
  absl::FPrintF(out, "\n");
  for (const BenchCacheLine& line : report.lines) {
    absl::FPrintF(out, "| %s | %g %% | %d |", line.trace, line.percent, line.capacity);
    for (const double rate : line.hit_rates) absl::FPrintF(out, " %s |", Percent(rate));
    if (line.store) {
      absl::FPrintF(out, " %s | %d | %s | %s |\n", Percent(line.store->hit_rate),
                    line.store->lists_held, Percent(line.store->lru_hit_rate),
                    Percent(line.store->fifo_hit_rate));
    } else {
      absl::FPrintF(out, " | | | |\n");
    }
  }
  PrintHitRateBars(report, out);
  if (report.flood) PrintFlood(*report.flood, out);
  if (report.hits) PrintHits(*report.hits, out);
}

void PrintBenchCacheReportJson(const BenchCacheReport& report, std::FILE* out) {
  std::string json = "{\"lines\":[";
  for (const BenchCacheLine& line : report.lines) {
    if (json.back() != '[') json += ',';
    absl::StrAppendFormat(&json, "{\"trace\":\"%s\",\"percent\":%g,\"lists\":%d", line.trace,
                          line.percent, line.capacity);
    constexpr const char* kKeys[] = {"fifo", "lru", "w_tinylfu", "s3_fifo", "s3_fifo_hand"};
    for (size_t i = 0; i < std::size(kCachePolicies); ++i) {
      absl::StrAppendFormat(&json, ",\"%s\":%.5f", kKeys[i], line.hit_rates[i]);
    }
    if (line.store) {
      absl::StrAppendFormat(&json,
                            ",\"store\":%.5f,\"store_lists\":%d,\"lru_as_large\":%.5f,"
                            "\"fifo_as_large\":%.5f",
                            line.store->hit_rate, line.store->lists_held, line.store->lru_hit_rate,
                            line.store->fifo_hit_rate);
    }
    json += '}';
  }
  json += ']';
  if (report.flood) {
    const BenchFlood& flood = *report.flood;
    absl::StrAppendFormat(&json,
                          ",\"flood_lists\":%d,\"flood_limit_bytes\":%d,\"flood_held_bytes\":%d,"
                          "\"flood_resident_bytes\":%d,\"flood_lists_held\":%d,"
                          "\"flood_evictions\":%d,\"flood_additions\":%.0f,\"flood_p50_ns\":%d,"
                          "\"flood_p99_ns\":%d,\"flood_p999_ns\":%d",
                          flood.lists, flood.limit_bytes, flood.held_bytes_max,
                          flood.resident_bytes_max, flood.lists_held, flood.evictions,
                          flood.additions_per_second, flood.latency.Percentile(50),
                          flood.latency.Percentile(99), flood.latency.Percentile(99.9));
  }
  if (report.hits) {
    AppendHits("hits", report.hits->reads, json);
    AppendHits("mixed", report.hits->mixed, json);
  }
  absl::FPrintF(out, "%s}\n", json);
}

absl::Status WriteBenchCacheChart(const BenchCacheReport& report, const std::string& path) {
  std::FILE* const file = std::fopen(path.c_str(), "w");
  if (file == nullptr) return absl::PermissionDeniedError(absl::StrCat("cannot write ", path));
  const std::string svg = Chart(report);
  const bool written = std::fwrite(svg.data(), 1, svg.size(), file) == svg.size();
  if (std::fclose(file) != 0 || !written) {
    return absl::DataLossError(absl::StrCat("could not write all of ", path));
  }
  return absl::OkStatus();
}

}  // namespace liststore
