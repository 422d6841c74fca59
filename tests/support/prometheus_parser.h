// ParsePrometheus: the text format of Prometheus 0.0.4, read as promtool reads it.
#ifndef LISTSTORE_TESTS_SUPPORT_PROMETHEUS_PARSER_H_
#define LISTSTORE_TESTS_SUPPORT_PROMETHEUS_PARSER_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace liststore::testing {

struct PrometheusPage {
  std::map<std::string, std::string> types;  // by family
  // By name and labels, as `name{a="b",c="d"}` with the labels in order.
  std::map<std::string, double> samples;
  // What is wrong, a line for each: nothing is where this is empty. Among it, beside what cannot be read:
  // families without HELP or TYPE, or with two; samples of none, or not behind their own; the same
  // series twice; names and labels that may not be so called; counters that do not end in _total
  // (but ScyllaDB's); histograms whose buckets are not cumulative, do not ascend, or whose +Inf is
  // not their count.
  std::vector<std::string> problems;

  // 0, and a problem, where there is none.
  double Sample(const std::string& series) {
    const auto at = samples.find(series);
    if (at != samples.end()) return at->second;
    problems.push_back("there is no " + series);
    return 0;
  }
};

PrometheusPage ParsePrometheus(std::string_view text);

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_SUPPORT_PROMETHEUS_PARSER_H_
