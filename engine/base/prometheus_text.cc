#include "engine/base/prometheus_text.h"

#include <array>
#include <charconv>

#include "absl/strings/str_cat.h"
#include "engine/base/check.h"

namespace liststore {
namespace {

std::string_view ToString(PrometheusText::Type type) {
  switch (type) {
    case PrometheusText::Type::kCounter:
      return "counter";
    case PrometheusText::Type::kGauge:
      return "gauge";
    case PrometheusText::Type::kHistogram:
      return "histogram";
  }
  LS_UNREACHABLE("there is no other type");
}

// With as many digits as tell it from all others.
std::string Shortest(double number) {
  std::array<char, 32> text;
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), number);
  LS_CHECK(error == std::errc(), "the longest double has 24 characters");
  return std::string(text.data(), end);
}

// `of_label`: the value of one, in which a quote is escaped as well.
void AppendEscaped(std::string& to, std::string_view text, bool of_label) {
  for (const char c : text) {
    if (c == '\\') {
      to += "\\\\";
    } else if (c == '\n') {
      to += "\\n";
    } else if (c == '"' && of_label) {
      to += "\\\"";
    } else {
      to += c;
    }
  }
}

}  // namespace

void PrometheusText::Begin(std::string_view name, Type type, std::string_view help) {
  name_ = name;
  text_.append("# HELP ").append(name).append(" ");
  AppendEscaped(text_, help, false);
  text_.append("\n# TYPE ").append(name).append(" ").append(ToString(type)).append("\n");
}

void PrometheusText::AppendName(std::string_view suffix, Labels labels, std::string_view le) {
  text_.append(name_).append(suffix);
  if (labels.size() == 0 && le.empty()) return;
  char before = '{';
  const auto append = [&](std::string_view name, std::string_view value) {
    text_ += before;
    before = ',';
    text_.append(name).append("=\"");
    AppendEscaped(text_, value, true);
    text_ += '"';
  };
  for (const auto& [name, value] : labels) append(name, value);
  if (!le.empty()) append("le", le);
  text_ += '}';
}

void PrometheusText::Add(Labels labels, uint64_t value) {
  AppendName("", labels, "");
  absl::StrAppend(&text_, " ", value, "\n");
}

void PrometheusText::Add(Labels labels, double value) {
  AppendName("", labels, "");
  absl::StrAppend(&text_, " ", Shortest(value), "\n");
}

void PrometheusText::AddHistogram(Labels labels, std::span<const double> bounds,
                                  std::span<const uint64_t> counts, double sum) {
  LS_CHECK(counts.size() == bounds.size() + 1, "beyond the last bound there is a bucket, too");
  uint64_t count = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    count += counts[i];
    AppendName("_bucket", labels, i < bounds.size() ? Shortest(bounds[i]) : "+Inf");
    absl::StrAppend(&text_, " ", count, "\n");
  }
  AppendName("_sum", labels, "");
  absl::StrAppend(&text_, " ", Shortest(sum), "\n");
  AppendName("_count", labels, "");
  absl::StrAppend(&text_, " ", count, "\n");
}

}  // namespace liststore
