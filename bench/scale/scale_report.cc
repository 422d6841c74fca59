#include "bench/scale/scale_report.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>

#include "absl/strings/str_format.h"
#include "engine/base/check.h"
#include "programs/console/json_line.h"

namespace liststore {
namespace {

std::string TitleOf(const ScaleLine& line) {
  std::string mix = NameOf(line.setup.mix);
  if (line.setup.mix == ScaleMix::kZipf) mix = absl::StrFormat("Zipf %g", line.setup.zipf);
  if (line.setup.mix == ScaleMix::kHot) {
    mix = absl::StrFormat("%g %% for one list", line.setup.hot_percent);
  }
  const std::string title = absl::StrFormat("%s, %s", line.form, mix);
  if (line.setup.aware_percent == 0) return title;
  return absl::StrFormat("%s, %g %% to their shard", title, line.setup.aware_percent);
}

}  // namespace

const char* NameOf(ScaleMix mix) {
  switch (mix) {
    case ScaleMix::kUniform:
      return "uniform";
    case ScaleMix::kZipf:
      return "zipf";
    case ScaleMix::kHot:
      return "hot";
  }
  LS_UNREACHABLE("a mix has a name");
}

void PrintScale(const std::vector<ScaleLine>& lines, std::FILE* out) {
  std::string title;
  for (const ScaleLine& line : lines) {
    const std::string its = TitleOf(line);
    if (its != title) {
      absl::FPrintF(out, "%s%s, %g %% writes\n", title.empty() ? "" : "\n", its,
                    line.setup.write_percent);
      absl::FPrintF(out, "%6s %6s %6s %9s %7s %7s %7s %8s %8s %8s  %s\n", "loops", "cores", "lanes",
                    "M/s", "of N x", "taken", "mail", "p50", "p99", "p99.9", "limit");
      title = its;
    }
    const ScaleResult& result = line.result;
    absl::FPrintF(out, "%6d %6d %6d %9.2f %7.2f %6.2f%% %6.2f%% %8s %8s %8s  %s\n",
                  line.setup.loops, line.setup.cores_used(), line.setup.lanes(),
                  result.per_second() / 1e6, line.efficiency(), 100 * result.found_taken_share(),
                  100 * result.mail_share(), FormatNanos(result.waits.Percentile(50)),
                  FormatNanos(result.waits.Percentile(99)),
                  FormatNanos(result.waits.Percentile(99.9)), result.Limit());
  }
}

void PrintScaleJson(const std::vector<ScaleLine>& lines, std::FILE* out) {
  for (const ScaleLine& line : lines) {
    const ScaleResult& result = line.result;
    JsonLine json;
    json.Text("form", line.form);
    json.Text("mix", NameOf(line.setup.mix));
    json.Add("write_percent", line.setup.write_percent);
    json.Add("aware_percent", line.setup.aware_percent);
    json.Count("loops", line.setup.loops);
    json.Count("cores", line.setup.cores_used());
    json.Count("lanes", line.setup.lanes());
    json.Count("seed", line.setup.seed);
    json.Count("requests", result.requests);
    json.Add("per_second", result.per_second());
    json.Add("efficiency", line.efficiency());
    json.Add("found_taken", result.found_taken_share());
    json.Add("as_mail", result.mail_share());
    json.Count("sleeps", result.sleeps);
    json.Count("wait_p50_ns", result.waits.Percentile(50));
    json.Count("wait_p99_ns", result.waits.Percentile(99));
    json.Count("wait_p999_ns", result.waits.Percentile(99.9));
    const auto share = [&](const char* key, double nanos) {
      json.Add(key, nanos / result.cores_ns);
    };
    share("work", result.work_ns);
    share("lanes_share", result.waiting_ns());
    share("lines_share", result.transfer_ns);
    share("memory_share", result.memory_ns);
    share("network_share", result.network_ns);
    share("journal_share", result.journal_ns);
    share("threads_share", result.switch_ns);
    json.Text("limit", result.Limit());
    absl::FPrintF(out, "%s\n", json.Finish());
  }
}

// --- Chart ---------------------------------------------------------------------------------------

namespace {

constexpr double kWidth = 680;
constexpr double kHeight = 420;
constexpr double kLeft = 60;
constexpr double kRight = 470;
constexpr double kTop = 30;
constexpr double kBottom = 370;
constexpr const char* kColours[] = {"#1f78b4", "#1b9e77", "#d95f02", "#7570b3",
                                    "#e7298a", "#66a61e", "#a6761d", "#333333"};

// Both axes double from one mark to the next.
struct Axes {
  double x_low, x_high, y_low, y_high;

  double X(double cores) const { return Along(cores, x_low, x_high, kLeft, kRight); }
  double Y(double rate) const { return Along(rate, y_low, y_high, kBottom, kTop); }

 private:
  static double Along(double value, double low, double high, double from, double to) {
    return from + (to - from) * std::log(value / low) / std::log(high / low);
  }
};

std::string Label(double x, double y, std::string_view text, const char* anchor) {
  return absl::StrFormat("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n", x, y, anchor,
                         text);
}

std::string Line(double x1, double y1, double x2, double y2, const char* colour) {
  return absl::StrFormat("<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\"/>\n",
                         x1, y1, x2, y2, colour);
}

std::string Grid(const Axes& axes) {
  std::string svg;
  for (double cores = axes.x_low; cores <= axes.x_high * 1.01; cores *= 2) {
    svg += Line(axes.X(cores), kTop, axes.X(cores), kBottom, "#eeeeee");
    svg += Label(axes.X(cores), kBottom + 16, absl::StrFormat("%g", cores), "middle");
  }
  for (double rate = axes.y_low; rate <= axes.y_high * 1.01; rate *= 2) {
    svg += Line(kLeft, axes.Y(rate), kRight, axes.Y(rate), "#eeeeee");
    svg += Label(kLeft - 6, axes.Y(rate) + 4, absl::StrFormat("%g", rate), "end");
  }
  svg += Label((kLeft + kRight) / 2, kBottom + 36, "cores, one loop on each", "middle");
  return svg + Label(kLeft - 40, kTop - 12, "million requests a second", "start");
}

double MillionsOf(const ScaleLine& line) { return line.result.per_second() / 1e6; }

}  // namespace

std::string ScaleChart(const std::vector<ScaleLine>& lines) {
  LS_CHECK(!lines.empty(), "a chart shows something");
  Axes axes = {1, 2, MillionsOf(lines.front()), 0};
  for (const ScaleLine& line : lines) {
    axes.x_high = std::max<double>(axes.x_high, line.setup.cores_used());
    axes.y_low = std::min(axes.y_low, MillionsOf(line));
    axes.y_high = std::max(axes.y_high, line.one_per_second / 1e6 * line.setup.cores_used());
  }
  axes.y_low = std::exp2(std::floor(std::log2(axes.y_low)));
  axes.y_high = std::exp2(std::ceil(std::log2(axes.y_high)));
  std::string svg = absl::StrFormat(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
      "font-family=\"sans-serif\" font-size=\"11\">\n"
      "<title>Million requests a second, by cores</title>\n"
      "<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n",
      kWidth, kHeight);
  svg += Grid(axes);
  double label_y = kTop;
  size_t curve = 0;
  for (auto begin = lines.begin(); begin != lines.end();) {
    const std::string title = TitleOf(*begin);
    const auto end =
        std::find_if(begin, lines.end(), [&](const ScaleLine& it) { return TitleOf(it) != title; });
    const char* const colour = kColours[curve++ % std::size(kColours)];
    std::string points, ideal;
    for (auto line = begin; line != end; ++line) {
      const double cores = line->setup.cores_used();
      absl::StrAppendFormat(&points, "%.1f,%.1f ", axes.X(cores), axes.Y(MillionsOf(*line)));
      absl::StrAppendFormat(&ideal, "%.1f,%.1f ", axes.X(cores),
                            axes.Y(line->one_per_second / 1e6 * cores));
    }
    absl::StrAppendFormat(
        &svg,
        "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"1\" "
        "stroke-dasharray=\"2 4\"/>\n"
        "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>\n",
        ideal, colour, points, colour);
    svg += absl::StrFormat("<rect x=\"%.0f\" y=\"%.0f\" width=\"12\" height=\"3\" fill=\"%s\"/>\n",
                           kRight + 20, label_y, colour);
    svg += Label(kRight + 38, label_y + 5, title, "start");
    label_y += 20;
    begin = end;
  }
  svg += Label(kRight + 20, label_y + 10, "dotted: one core as often", "start");
  return svg + "</svg>\n";
}

}  // namespace liststore
