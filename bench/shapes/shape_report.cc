#include "bench/shapes/shape_report.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "bench/measure/latency_json.h"
#include "engine/base/check.h"
#include "programs/console/json_line.h"
#include "programs/console/text.h"

namespace liststore {

void ShapeReport::Begin(std::string_view shape) {
  lines_.push_back({.key = "", .name = std::string(shape)});
}

void ShapeReport::Latency(std::string_view key, std::string_view name, const Histogram& latency) {
  LS_CHECK(!key.empty(), "a line has a key");
  lines_.push_back(
      {.key = std::string(key), .name = std::string(name), .is_latency = true, .latency = latency});
}

void ShapeReport::Number(std::string_view key, std::string_view name, double value,
                         std::string_view unit) {
  LS_CHECK(!key.empty(), "a line has a key");
  lines_.push_back({.key = std::string(key),
                    .name = std::string(name),
                    .value = value,
                    .unit = std::string(unit)});
}

void ShapeReport::Ratios(std::string_view key, std::string_view name, const Histogram& shape,
                         const Histogram& beside) {
  for (const auto& [suffix, percent] : {std::pair<const char*, double>("p50", 50), {"p99", 99}}) {
    const uint64_t below = beside.Percentile(percent);
    if (below == 0) continue;
    Number(absl::StrCat(std::string(key), "_ratio_", suffix),
           absl::StrCat(std::string(name), ", ", suffix),
           static_cast<double>(shape.Percentile(percent)) / static_cast<double>(below), "times");
  }
}

void ShapeReport::Print(std::FILE* out) const {
  for (const Line& line : lines_) {
    if (line.key.empty()) {
      absl::FPrintF(out, "\n%s\n", line.name);
    } else if (line.is_latency) {
      absl::FPrintF(out, "  %-44s p50 %8s  p99 %8s  p99.9 %8s  of %s\n", line.name,
                    FormatNanos(line.latency.Percentile(50)),
                    FormatNanos(line.latency.Percentile(99)),
                    FormatNanos(line.latency.Percentile(99.9)), Grouped(line.latency.Count()));
    } else {
      absl::FPrintF(out, "  %-44s %12.4g %s\n", line.name, line.value, line.unit);
    }
  }
}

void ShapeReport::PrintJson(std::FILE* out) const {
  JsonLine json;
  for (const Line& line : lines_) {
    if (line.key.empty()) continue;
    if (line.is_latency) {
      AddLatency(line.key, line.latency, &json);
    } else {
      json.Add(line.key, line.value);
    }
  }
  absl::FPrintF(out, "%s\n", json.Finish());
}

}  // namespace liststore
