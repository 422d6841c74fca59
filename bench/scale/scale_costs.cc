#include "bench/scale/scale_costs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>
#include <variant>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace liststore {
namespace {

struct CostName {
  const char* name;
  const char* text;
  std::variant<double*, uint64_t*> field;
};

// Fields of `costs`, which outlives them.
std::vector<CostName> NamesOf(ScaleCosts& costs) {
  std::vector<CostName> names;
  const auto add = [&names](const char* name, const char* text, auto* field) {
    names.push_back({name, text, field});
  };
  RequestCosts& read = costs.read;
  RequestCosts& write = costs.write;
  add("read_outside", "ns of a read before and after its lane", &read.outside_ns);
  add("read_in_lane", "ns of a read with its lane, the list in caches", &read.in_lane_ns);
  add("read_missing", "ns more where it is not", &read.missing_ns);
  add("read_lane_lines", "lines of the lane that come from the core before", &read.lane_lines);
  add("read_list_lines", "lines of a list that another core has changed", &read.list_lines);
  add("read_memory", "bytes from memory, of a list in no cache", &read.memory_bytes);
  add("read_network", "bytes through the network", &read.network_bytes);
  add("write_outside", "the same of a write", &write.outside_ns);
  add("write_in_lane", "", &write.in_lane_ns);
  add("write_missing", "", &write.missing_ns);
  add("write_lane_lines", "", &write.lane_lines);
  add("write_list_lines", "", &write.list_lines);
  add("write_memory", "", &write.memory_bytes);
  add("write_network", "", &write.network_bytes);
  add("group", "requests whose lists are fetched together", &costs.group);
  add("turn", "ns of the system for a turn", &costs.turn_ns);
  add("requests_a_turn", "requests of a turn", &costs.requests_a_turn);
  add("journal", "ns of a request under the journal's lock; 0: no journal", &costs.journal_ns);
  add("journal_lines", "lines that come with that lock", &costs.journal_lines);
  add("transfer", "ns until a line that another core has written is here", &costs.transfer_ns);
  add("pause", "ns of one pause of a thread that waits", &costs.pause_ns);
  add("yield", "ns of offering a core that nobody wants", &costs.yield_ns);
  add("switch", "ns from one thread to another on a core", &costs.switch_ns);
  add("wake", "ns to wake a thread, and until it runs", &costs.wake_ns);
  add("slice", "ns that a thread has its core while others are ready", &costs.slice_ns);
  add("memory_gb", "GB/s of memory, of all cores together; 0: no limit", &costs.memory_gb_per_s);
  add("network_gbit", "Gbit/s of the network; 0: no limit", &costs.network_gbit_per_s);
  return names;
}

double ValueOf(const CostName& name) {
  return std::visit([](auto* field) { return static_cast<double>(*field); }, name.field);
}

// Costs of a machine in these, of a form in the rest; see docs/scale.md.
ScaleCosts Embedded() {
  ScaleCosts costs;
  // The lane's counters come while the list does.
  costs.read = {.outside_ns = 30,
                .in_lane_ns = 40,
                .missing_ns = 390,
                .lane_lines = 1,
                .list_lines = 3,
                .memory_bytes = 1'024,
                .network_bytes = 0};
  costs.write = {.outside_ns = 300,
                 .in_lane_ns = 200,
                 .missing_ns = 70,
                 .lane_lines = 3,
                 .list_lines = 4,
                 .memory_bytes = 1'024,
                 .network_bytes = 0};
  return costs;
}

ScaleCosts MultiGet() {
  ScaleCosts costs = Embedded();
  costs.read.outside_ns = 65;
  costs.read.in_lane_ns = 45;
  costs.read.missing_ns = 300;
  costs.read.lane_lines = 2;
  costs.group = 16;
  return costs;
}

ScaleCosts Wire() {
  ScaleCosts costs = MultiGet();
  costs.read.outside_ns = 255;
  costs.read.network_bytes = 922;
  costs.write.outside_ns = 330;
  costs.write.in_lane_ns = 250;
  costs.write.missing_ns = 100;
  costs.write.network_bytes = 210;
  costs.turn_ns = 7'500;
  costs.requests_a_turn = 64;
  return costs;
}

}  // namespace

std::span<const ScaleForm> ScaleForms() {
  static const std::array<ScaleForm, 3> kForms = {{
      {"embedded", "threads that call the store, one list a call", Embedded()},
      {"multiget", "the same, reads by groups of 16", MultiGet()},
      {"wire", "a server's loops, prepared statements, 64 under way on each connection", Wire()},
  }};
  return kForms;
}

const ScaleForm* FindScaleForm(std::string_view name) {
  const auto forms = ScaleForms();
  const auto found = std::ranges::find(forms, name, &ScaleForm::name);
  return found == forms.end() ? nullptr : &*found;
}

absl::Status SetCost(std::string_view assignment, ScaleCosts* costs) {
  const size_t equals = assignment.find('=');
  const std::string_view wanted = assignment.substr(0, equals);
  const std::vector<CostName> names = NamesOf(*costs);
  const auto name = std::ranges::find_if(
      names, [wanted](const CostName& candidate) { return candidate.name == wanted; });
  if (name == names.end()) {
    const auto append = [](std::string* out, const CostName& it) { *out += it.name; };
    return absl::InvalidArgumentError(absl::StrFormat("'%s' is no cost; there are %s", wanted,
                                                      absl::StrJoin(names, ", ", append)));
  }
  double value = 0;
  const bool counts = std::holds_alternative<uint64_t*>(name->field);
  const double low = counts && (wanted == "group" || wanted == "requests_a_turn") ? 1 : 0;
  constexpr double kMost = 1e9;
  if (equals == std::string_view::npos ||
      !absl::SimpleAtod(std::string(assignment.substr(equals + 1)), &value) ||
      !(value >= low && value <= kMost) || (counts && value != std::floor(value))) {
    return absl::InvalidArgumentError(
        absl::StrFormat("'%s': %s takes a%s number from %.0f to 1e9, as in %s=%g", assignment,
                        wanted, counts ? " whole" : "", low, wanted, ValueOf(*name)));
  }
  std::visit(
      [value](auto* field) {
        *field = static_cast<std::remove_reference_t<decltype(*field)>>(value);
      },
      name->field);
  return absl::OkStatus();
}

std::string DescribeCosts(const ScaleCosts& costs) {
  ScaleCosts copy = costs;
  std::string text;
  for (const CostName& name : NamesOf(copy)) {
    absl::StrAppendFormat(&text, "%-17s %9g  %s\n", name.name, ValueOf(name), name.text);
  }
  return text;
}

}  // namespace liststore
