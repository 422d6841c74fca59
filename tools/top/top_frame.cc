#include "tools/top/top_frame.h"

#include <algorithm>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "programs/console/json_line.h"
#include "programs/console/text.h"

namespace liststore {
namespace {

constexpr size_t kTablesShown = 8;
constexpr size_t kSlowTurnsShown = 5;

TopFrame::Rates Sorted(const std::map<std::string, double>& rates) {
  TopFrame::Rates sorted(rates.begin(), rates.end());
  std::ranges::stable_sort(sorted, std::ranges::greater(), &std::pair<std::string, double>::second);
  return sorted;
}

// `rate` as a whole number, or with a digit behind the point where it is small.
std::string RateText(double rate) {
  return rate >= 10 ? Grouped(static_cast<uint64_t>(rate + 0.5)) : absl::StrFormat("%.1f", rate);
}

std::string MicrosText(int64_t micros) {
  if (micros < 1'000) return absl::StrCat(micros, " us");
  return absl::StrFormat("%.1f ms", static_cast<double>(micros) / 1'000);
}

std::string RatesText(const TopFrame::Rates& rates) {
  std::string text;
  for (const auto& [name, rate] : rates) {
    absl::StrAppend(&text, text.empty() ? "" : "   ", name, " ", RateText(rate));
  }
  return text;
}

int64_t CounterOf(const TopSample& sample, const std::string& name) {
  const auto at = sample.counters.find(name);
  return at == sample.counters.end() ? 0 : at->second;
}

// Cells of a bar, and the share in numbers behind it.
std::string ShareText(int64_t part, int64_t whole) {
  constexpr int kCells = 20;
  const double share = std::clamp(static_cast<double>(part) / static_cast<double>(whole), 0.0, 1.0);
  std::string bar;
  for (int cell = 0; cell < kCells; ++cell) bar += cell < share * kCells ? "━" : "╌";
  return absl::StrFormat("%s %3.0f %% of %s", bar, share * 100,
                         Bytes(static_cast<uint64_t>(whole)));
}

void AppendRequests(const TopFrame& frame, std::vector<std::string>* lines) {
  if (frame.now.clock_mode.empty()) {
    lines->push_back("requests     not known: the server has no instruments (serve --instruments)");
    return;
  }
  if (!frame.requests_per_s) {
    lines->push_back("requests     not known: the server keeps no journal (serve --journal N)");
    return;
  }
  std::string requests = "requests     " + RateText(*frame.requests_per_s) + " a second";
  if (!frame.by_op.empty()) requests += "   " + RatesText(frame.by_op);
  lines->push_back(requests);
  if (frame.p50_us) {
    lines->push_back(absl::StrCat("latency      p50 ", MicrosText(*frame.p50_us), "   p99 ",
                                  MicrosText(*frame.p99_us), "   max ", MicrosText(*frame.max_us)));
  }
  if (!frame.failed_by_outcome.empty()) {
    lines->push_back("failed       " + RatesText(frame.failed_by_outcome));
  }
}

void AppendMemory(const TopFrame& frame, std::vector<std::string>* lines) {
  lines->push_back("");
  lines->push_back("memory");
  for (const TopSample::Owner& owner : frame.now.memory) {
    std::string line = absl::StrFormat("  %s %10s", Padded(owner.name, 12),
                                       Bytes(static_cast<uint64_t>(owner.bytes)));
    if (owner.limit_bytes > 0) line += "  " + ShareText(owner.bytes, owner.limit_bytes);
    lines->push_back(line);
  }
}

void AppendTables(const TopFrame& frame, std::vector<std::string>* lines) {
  if (frame.by_table.empty()) return;
  lines->push_back("");
  lines->push_back("hottest tables, requests a second");
  for (size_t i = 0; i < std::min(kTablesShown, frame.by_table.size()); ++i) {
    const auto& [table, rate] = frame.by_table[i];
    lines->push_back(absl::StrFormat("  %10s  %s", RateText(rate), table));
  }
}

// A second at least: of a server that has just started.
double RateOf(const TopSample::HotPartition& partition) {
  return static_cast<double>(partition.reads + partition.writes) /
         static_cast<double>(std::max<int64_t>(partition.seconds, 1));
}

void AppendHotPartitions(const TopFrame& frame, std::vector<std::string>* lines) {
  const std::vector<TopSample::HotPartition>& partitions = frame.now.hot_partitions;
  if (partitions.empty()) return;
  lines->push_back("");
  lines->push_back(absl::StrCat("hottest partitions of the last ",
                                std::max<int64_t>(partitions.front().seconds, 1),
                                " s: requests a second, of these writes"));
  for (const TopSample::HotPartition& partition : partitions) {
    const int64_t all = std::max<int64_t>(partition.reads + partition.writes, 1);
    lines->push_back(absl::StrFormat("  %10s %4d %%  %s  %s", RateText(RateOf(partition)),
                                     100 * partition.writes / all, partition.table, partition.key));
  }
}

void AppendSlowTurns(const TopFrame& frame, std::vector<std::string>* lines) {
  if (frame.now.slow_turns.empty()) return;
  lines->push_back("");
  lines->push_back(absl::StrCat("slow turns, ",
                                Grouped(static_cast<uint64_t>(CounterOf(frame.now, "slow_turns"))),
                                " since the start: took, of it waited for the core, at what"));
  for (size_t i = 0; i < std::min(kSlowTurnsShown, frame.now.slow_turns.size()); ++i) {
    const TopSample::SlowTurn& turn = frame.now.slow_turns[i];
    lines->push_back(absl::StrFormat("  %10s %10s  %s", MicrosText(turn.took_us),
                                     MicrosText(turn.waited_for_core_us), turn.work));
  }
}

std::vector<double> Values(const TopFrame::Rates& rates) {
  std::vector<double> values;
  for (const auto& [name, rate] : rates) values.push_back(rate);
  return values;
}

}  // namespace

TopFrame MakeTopFrame(const std::string& server, const TopSample& before, const TopSample& now) {
  TopFrame frame;
  frame.server = server;
  frame.now = now;
  frame.seconds = now.at_seconds - before.at_seconds;
  for (const auto& [name, value] : now.counters) {
    const int64_t grown = value - CounterOf(before, name);
    // The statements of this program are long ones themselves.
    const bool is_told = name != "connections" && name != "statements_long";
    if (is_told && grown > 0) frame.grown.emplace(name, grown);
  }
  if (!now.has_journal || frame.seconds <= 0) return frame;
  frame.requests_per_s = 0;
  if (!now.newest_request || !before.newest_request) return frame;
  const double requests = static_cast<double>(*now.newest_request - *before.newest_request);
  frame.requests_per_s = requests / frame.seconds;
  if (now.requests.empty()) return frame;
  const double weight = *frame.requests_per_s / static_cast<double>(now.requests.size());
  std::map<std::string, double> ops, tables, failed;
  std::vector<int64_t> micros;
  for (const TopSample::Request& request : now.requests) {
    ops[request.op] += weight;
    if (!request.table.empty()) tables[request.table] += weight;
    if (request.outcome != "ok") failed[request.outcome] += weight;
    micros.push_back(request.duration_us);
  }
  frame.by_op = Sorted(ops);
  frame.by_table = Sorted(tables);
  frame.failed_by_outcome = Sorted(failed);
  std::ranges::sort(micros);
  frame.p50_us = micros[micros.size() / 2];
  frame.p99_us = micros[micros.size() * 99 / 100];
  frame.max_us = micros.back();
  return frame;
}

std::string TopText(const TopFrame& frame, size_t columns) {
  const TopSample& now = frame.now;
  std::vector<std::string> lines;
  std::string first = absl::StrCat("liststore    ", frame.server);
  if (!now.clock_mode.empty()) absl::StrAppend(&first, "   clock ", now.clock_mode);
  absl::StrAppend(&first, "   connections ",
                  Grouped(static_cast<uint64_t>(CounterOf(now, "connections"))));
  lines.push_back(first);
  AppendRequests(frame, &lines);
  if (now.data) {
    lines.push_back(absl::StrFormat("data         %s rows in %s tables, %s",
                                    Grouped(static_cast<uint64_t>(now.data->rows)),
                                    Grouped(static_cast<uint64_t>(now.data->tables)),
                                    Bytes(static_cast<uint64_t>(now.data->bytes))));
  }
  std::string grown;
  for (const auto& [name, count] : frame.grown) {
    absl::StrAppend(&grown, grown.empty() ? "" : "   ", name, " +", count);
  }
  if (!grown.empty()) lines.push_back("counters     " + grown);
  AppendMemory(frame, &lines);
  AppendTables(frame, &lines);
  AppendHotPartitions(frame, &lines);
  AppendSlowTurns(frame, &lines);
  std::string text;
  for (const std::string& line : lines) {
    text += line.empty() ? "\n" : Printable(line, std::max<size_t>(columns, 1)) + '\n';
  }
  return text;
}

std::string TopJson(const TopFrame& frame) {
  const TopSample& now = frame.now;
  JsonLine line;
  line.Text("server", frame.server);
  line.Text("clock", now.clock_mode);
  line.Add("seconds", frame.seconds);
  if (frame.requests_per_s) line.Add("requests_per_s", *frame.requests_per_s);
  for (const auto& [op, rate] : frame.by_op) line.Add("requests_per_s_" + op, rate);
  for (const auto& [outcome, rate] : frame.failed_by_outcome) {
    line.Add("failed_per_s_" + outcome, rate);
  }
  if (frame.p50_us) {
    line.Count("p50_us", static_cast<uint64_t>(*frame.p50_us));
    line.Count("p99_us", static_cast<uint64_t>(*frame.p99_us));
    line.Count("max_us", static_cast<uint64_t>(*frame.max_us));
  }
  if (now.data) {
    line.Count("keyspaces", static_cast<uint64_t>(now.data->keyspaces));
    line.Count("tables", static_cast<uint64_t>(now.data->tables));
    line.Count("rows", static_cast<uint64_t>(now.data->rows));
    line.Count("data_bytes", static_cast<uint64_t>(now.data->bytes));
  }
  for (const TopSample::Owner& owner : now.memory) {
    line.Count(owner.name + "_bytes", static_cast<uint64_t>(owner.bytes));
    if (owner.limit_bytes > 0) {
      line.Count(owner.name + "_limit_bytes", static_cast<uint64_t>(owner.limit_bytes));
    }
  }
  for (const auto& [name, value] : now.counters) {
    line.Count(name, static_cast<uint64_t>(std::max<int64_t>(value, 0)));
  }
  std::string tables;
  for (const auto& [table, rate] : frame.by_table) {
    absl::StrAppend(&tables, tables.empty() ? "" : " ", table);
  }
  line.Text("hottest_tables", tables);
  line.Numbers("hottest_tables_per_s", Values(frame.by_table));
  std::vector<std::string> partitions;
  std::vector<double> partition_rates;
  for (const TopSample::HotPartition& partition : now.hot_partitions) {
    partitions.push_back(partition.table + " " + partition.key);
    partition_rates.push_back(RateOf(partition));
  }
  line.Texts("hottest_partitions", partitions);
  line.Numbers("hottest_partitions_per_s", partition_rates);
  return line.Finish();
}

}  // namespace liststore
