#include "tests/support/prometheus_parser.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <set>
#include <utility>

namespace liststore::testing {
namespace {

bool IsName(std::string_view name, bool may_have_colons) {
  const auto is_letter = [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           (may_have_colons && c == ':');
  };
  return !name.empty() && is_letter(name[0]) &&
         std::ranges::all_of(name, [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

class Parser {
 public:
  PrometheusPage Parse(std::string_view text) {
    if (!text.empty() && text.back() != '\n') Say("the last line has no end");
    while (!text.empty()) {
      const size_t end = std::min(text.find('\n'), text.size());
      line_ = text.substr(0, end);
      text.remove_prefix(std::min(text.size(), end + 1));
      if (line_.starts_with("# ")) {
        TakeComment(line_.substr(2));
      } else if (!line_.empty()) {
        TakeSample();
      }
    }
    for (const auto& [family, type] : page_.types) {
      if (!helped_.contains(family)) Say(family + " has no HELP");
    }
    CheckHistograms();
    return std::move(page_);
  }

 private:
  using Labels = std::map<std::string, std::string>;
  struct Histogram {
    std::vector<std::pair<double, double>> buckets;  // bound and count, as they came
    double count = -1;
    bool has_sum = false;
  };

  void Say(const std::string& problem) {
    page_.problems.push_back(problem + " [" + std::string(line_.substr(0, 120)) + "]");
  }

  void TakeComment(std::string_view comment) {
    const size_t first = comment.find(' ');
    const std::string_view kind = comment.substr(0, first);
    if (kind != "HELP" && kind != "TYPE") return;
    const std::string_view rest = comment.substr(first + 1);
    const size_t second = rest.find(' ');
    const std::string family(rest.substr(0, second));
    if (!IsName(family, true)) Say("this is no name");
    if (second == std::string_view::npos) return Say("nothing is said");
    if (kind == "HELP") {
      if (!helped_.insert(family).second) Say("a second HELP");
      return;
    }
    const std::string type(rest.substr(second + 1));
    if (type != "counter" && type != "gauge" && type != "histogram") Say("no type");
    if (!page_.types.emplace(family, type).second) Say("a second TYPE");
    if (type == "counter" && !family.ends_with("_total") && !family.starts_with("scylla_")) {
      Say("a counter that does not end in _total");
    }
    family_ = family;
  }

  bool TakeLabels(std::string_view& rest, Labels& labels) {
    rest.remove_prefix(1);
    while (!rest.starts_with("}")) {
      const size_t sign = rest.find("=\"");
      if (sign == std::string_view::npos) return false;
      const std::string name(rest.substr(0, sign));
      if (!IsName(name, false) || name.starts_with("__")) Say("this is no label: " + name);
      rest.remove_prefix(sign + 2);
      std::string value;
      while (!rest.empty() && rest[0] != '"') {
        if (rest[0] == '\\') {
          if (rest.size() < 2 ||
              std::string_view("\\\"n").find(rest[1]) == std::string_view::npos) {
            return false;
          }
          value += rest[1] == 'n' ? '\n' : rest[1];
          rest.remove_prefix(2);
        } else {
          value += rest[0];
          rest.remove_prefix(1);
        }
      }
      if (rest.empty()) return false;
      rest.remove_prefix(1);
      if (!labels.emplace(name, value).second) Say("a label twice: " + name);
      if (rest.starts_with(",")) {
        rest.remove_prefix(1);
      } else if (!rest.starts_with("}")) {
        return false;
      }
    }
    rest.remove_prefix(1);
    return true;
  }

  static std::string SeriesOf(const std::string& name, const Labels& labels) {
    std::string series = name;
    char before = '{';
    for (const auto& [label, value] : labels) {
      series += std::exchange(before, ',') + label + "=\"" + value + "\"";
    }
    return labels.empty() ? series : series + "}";
  }

  void TakeSample() {
    std::string_view rest = line_;
    const std::string name(rest.substr(0, rest.find_first_of("{ ")));
    if (!IsName(name, true)) return Say("this is no name");
    rest.remove_prefix(name.size());
    Labels labels;
    if (rest.starts_with("{") && !TakeLabels(rest, labels)) return Say("labels cannot be read");
    if (!rest.starts_with(" ")) return Say("there is no value");
    const std::string text(rest.substr(1));
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (text.empty() || *end != '\0') return Say("this is no value");
    if (!page_.samples.emplace(SeriesOf(name, labels), value).second)
      Say("the series is there twice");
    const bool is_histogram = page_.types.contains(family_) && page_.types[family_] == "histogram";
    if (!is_histogram) {
      if (name != family_) Say("a sample is not behind its own TYPE");
      if (labels.contains("le")) Say("le is of histograms");
      return;
    }
    TakeOfHistogram(name, labels, value);
  }

  void TakeOfHistogram(const std::string& name, Labels labels, double value) {
    if (name == family_ + "_bucket") {
      if (!labels.contains("le")) return Say("a bucket without le");
      const std::string le = labels["le"];
      labels.erase("le");
      const double bound =
          le == "+Inf" ? std::numeric_limits<double>::infinity() : std::strtod(le.c_str(), nullptr);
      histograms_[SeriesOf(family_, labels)].buckets.emplace_back(bound, value);
    } else if (name == family_ + "_sum") {
      histograms_[SeriesOf(family_, labels)].has_sum = true;
    } else if (name == family_ + "_count") {
      histograms_[SeriesOf(family_, labels)].count = value;
    } else {
      Say("a sample is not behind its own TYPE");
    }
  }

  void CheckHistograms() {
    for (const auto& [series, histogram] : histograms_) {
      const auto& buckets = histogram.buckets;
      if (!histogram.has_sum) Say(series + " has no sum");
      if (buckets.empty() || !std::isinf(buckets.back().first)) {
        Say(series + " has no bucket +Inf at its end");
        continue;
      }
      if (buckets.back().second != histogram.count) Say(series + ": +Inf is not the count");
      for (size_t i = 1; i < buckets.size(); ++i) {
        if (buckets[i].first <= buckets[i - 1].first) Say(series + ": bounds do not ascend");
        if (buckets[i].second < buckets[i - 1].second) Say(series + ": buckets are not cumulative");
      }
    }
  }

  PrometheusPage page_;
  std::set<std::string> helped_;
  std::map<std::string, Histogram> histograms_;
  std::string family_;
  std::string_view line_;
};

}  // namespace

PrometheusPage ParsePrometheus(std::string_view text) { return Parser().Parse(text); }

}  // namespace liststore::testing
