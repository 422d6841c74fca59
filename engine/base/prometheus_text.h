// PrometheusText: figures in the text format of Prometheus, version 0.0.4.
#ifndef LISTSTORE_ENGINE_BASE_PROMETHEUS_TEXT_H_
#define LISTSTORE_ENGINE_BASE_PROMETHEUS_TEXT_H_

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace liststore {

inline constexpr std::string_view kPrometheusContentType =
    "text/plain; version=0.0.4; charset=utf-8";

// Written family by family: one is begun, then its samples follow. Names of families and labels are
// literals of the caller's, valid and said once; values of labels are any text. Doubles
// are finite, and written with all their digits. O(bytes). One thread.
class PrometheusText {
 public:
  enum class Type : uint8_t {
    kCounter,
    kGauge,
    kHistogram
  };
  using Label = std::pair<std::string_view, std::string_view>;
  using Labels = std::initializer_list<Label>;

  void Begin(std::string_view name, Type type, std::string_view help);
  void Add(Labels labels, uint64_t value);
  void Add(Labels labels, double value);
  // A family of one sample.
  void Counter(std::string_view name, std::string_view help, uint64_t value) {
    Begin(name, Type::kCounter, help);
    Add({}, value);
  }
  void Gauge(std::string_view name, std::string_view help, uint64_t value) {
    Begin(name, Type::kGauge, help);
    Add({}, value);
  }
  // Of a histogram: what was counted up to each bound, beyond the one before, and beyond the last
  // one; so one count more than bounds.
  void AddHistogram(Labels labels, std::span<const double> bounds, std::span<const uint64_t> counts,
                    double sum);

  const std::string& text() const { return text_; }
  std::string Take() { return std::move(text_); }

 private:
  void AppendName(std::string_view suffix, Labels labels, std::string_view le);

  std::string text_;
  std::string_view name_;
};

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_BASE_PROMETHEUS_TEXT_H_
