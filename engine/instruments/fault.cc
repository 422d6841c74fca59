#include "engine/instruments/fault.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/check.h"

namespace liststore::instruments {
namespace {

using Kind = FaultAction::Kind;
using Nanos = std::chrono::nanoseconds;

constexpr std::pair<Kind, std::string_view> kKinds[] = {
    {Kind::kReadTimeout, "read_timeout"}, {Kind::kWriteTimeout, "write_timeout"},
    {Kind::kUnavailable, "unavailable"},  {Kind::kOverloaded, "overloaded"},
    {Kind::kServerError, "server_error"}, {Kind::kUnprepared, "unprepared"},
    {Kind::kRateLimit, "rate_limit"},     {Kind::kCloseConnection, "close_connection"},
    {Kind::kNoAnswer, "no_answer"},       {Kind::kDelay, "delay"},
};

cql::CqlError Refuse(std::string_view text, std::string_view why) {
  return cql::CqlError::Invalid("liststore.faults: action '" + std::string(text) + "' " +
                                std::string(why));
}

// "1.5ms"; nullopt: no time, or one beyond kFaultDelayMax.
std::optional<Nanos> ParseTime(std::string_view text) {
  constexpr std::pair<std::string_view, double> kUnits[] = {{"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
  double number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error != std::errc() || !(number >= 0)) return std::nullopt;
  const std::string_view unit = text.substr(static_cast<size_t>(end - text.data()));
  const auto* const at =
      std::ranges::find(kUnits, unit, [](const auto& entry) { return entry.first; });
  if (at == std::end(kUnits)) return std::nullopt;
  const double nanos = number * at->second;
  if (nanos > static_cast<double>(Nanos(kFaultDelayMax).count())) return std::nullopt;
  return Nanos(static_cast<int64_t>(nanos));
}

std::vector<std::string_view> Words(std::string_view text) {
  std::vector<std::string_view> words;
  while (true) {
    const size_t begin = text.find_first_not_of(' ');
    if (begin == std::string_view::npos) return words;
    text.remove_prefix(begin);
    const size_t end = std::min(text.find(' '), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
}

std::optional<DelayDistribution> ParsePercentiles(const std::vector<std::string_view>& words) {
  constexpr std::string_view kNames[] = {"p50=", "p99=", "p999="};
  if (words.size() != std::size(kNames) + 1) return std::nullopt;
  Nanos times[std::size(kNames)];
  for (size_t i = 0; i < std::size(kNames); ++i) {
    const std::string_view word = words[i + 1];
    if (!word.starts_with(kNames[i])) return std::nullopt;
    const std::optional<Nanos> time = ParseTime(word.substr(kNames[i].size()));
    if (!time) return std::nullopt;
    times[i] = *time;
  }
  if (!std::ranges::is_sorted(times)) return std::nullopt;
  return DelayDistribution{true, Nanos(0), times[0], times[1], times[2]};
}

// Behind "delay".
std::optional<DelayDistribution> ParseDelay(const std::vector<std::string_view>& words) {
  if (words.size() != 2) return ParsePercentiles(words);
  const size_t dots = words[1].find("..");
  const std::optional<Nanos> least = ParseTime(words[1].substr(0, dots));
  const std::optional<Nanos> most =
      dots == std::string_view::npos ? least : ParseTime(words[1].substr(dots + 2));
  if (!least || !most || *least > *most) return std::nullopt;
  return DelayDistribution{false, *least, Nanos(0), Nanos(0), *most};
}

}  // namespace

Nanos DelayDistribution::At(double fraction) const {
  LS_DCHECK(fraction >= 0 && fraction < 1, "a fraction is below 1");
  if (!by_percentiles) {
    return least +
           Nanos(static_cast<int64_t>(static_cast<double>((most - least).count()) * fraction));
  }
  // On a scale of nines: 0.9 is 1, 0.99 is 2, 0.999 is 3. A microsecond keeps logarithms finite.
  const auto between = [fraction](Nanos low, Nanos high, double from, double to) {
    constexpr double kMicrosecond = 1e3;
    const double nines = -std::log10(1 - fraction);
    const double part = (nines - from) / (to - from);
    const double begin = static_cast<double>(low.count()) + kMicrosecond;
    const double growth = (static_cast<double>(high.count()) + kMicrosecond) / begin;
    return Nanos(static_cast<int64_t>(begin * std::pow(growth, part) - kMicrosecond));
  };
  constexpr double kNinesOfHalf = 0.30103;
  if (fraction < 0.5) return between(Nanos(0), p50, 0, kNinesOfHalf);
  if (fraction < 0.99) return between(p50, p99, kNinesOfHalf, 2);
  if (fraction < 0.999) return between(p99, most, 2, 3);
  return most;
}

cql::CqlOr<FaultAction> ParseFaultAction(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const std::vector<std::string_view> words = Words(lower);
  const auto* const at =
      words.empty()
          ? std::end(kKinds)
          : std::ranges::find(kKinds, words[0], [](const auto& entry) { return entry.second; });
  if (at == std::end(kKinds)) {
    std::string known;
    for (const auto& [kind, name] : kKinds) {
      known += known.empty() ? "" : kind == Kind::kDelay ? " or " : ", ";
      known += name;
    }
    return Refuse(text, "is not one of " + known);
  }
  FaultAction action;
  action.kind = at->first;
  if (action.kind != Kind::kDelay) {
    if (words.size() > 1) return Refuse(text, "has more than its name");
    return action;
  }
  const std::optional<DelayDistribution> delay = ParseDelay(words);
  if (!delay) {
    return Refuse(text,
                  "is not 'delay 200ms', 'delay 5ms..20ms' or 'delay p50=1ms p99=20ms p999=200ms', "
                  "ascending, with times in us, ms or s of at most an hour");
  }
  action.delay = *delay;
  return action;
}

std::string_view ToString(FaultAction::Kind kind) {
  return std::ranges::find(kKinds, kind, [](const auto& entry) { return entry.first; })->second;
}

bool FaultCondition::HoldsButForKey(const FaultRequest& request) const {
  if (op ? *op != request.op : request.op == cql::StatementOp::kPrepare) return false;
  if (table) {
    if (std::ranges::find(request.tables, *table) == request.tables.end()) return false;
  } else if (request.of_system) {
    return false;
  }
  if (statement && request.text.find(*statement) == std::string_view::npos) return false;
  if (consistency && *consistency != request.consistency) return false;
  return !connection || *connection == request.address || *connection == request.driver;
}

bool FaultCondition::HoldsKey(const FaultRequest& request) const {
  return !key || std::ranges::find(request.keys, *key) != request.keys.end();
}

}  // namespace liststore::instruments
