// Measures what a service may meet and the common benchmarks do not show: large and odd shapes, and
// where the time goes. bench/peers and the program's own parts do the work.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "bench/shapes/shape_report.h"
#include "bench/shapes/shapes.h"
#include "programs/console/command_line.h"
#include "programs/console/exit_codes.h"

namespace liststore {
namespace {

struct Shape {
  const char* name;
  absl::Status (*measure)(const ShapeOptions& options, ShapeReport* report);
};
constexpr Shape kShapes[] = {
    {"long-list", MeasureLongList},   {"long-values", MeasureLongValues},
    {"churn", MeasureChurn},          {"expiry", MeasureExpiryCost},
    {"stages", MeasureStages},        {"hot-list", MeasureHotList},
    {"idle", MeasureIdleConnections}, {"relational", MeasureRelationalModel},
    {"journal", MeasureJournalCost},  {"wire-stages", MeasureWireStages},
    {"cache-hits", MeasureCacheHits}, {"loading", MeasureLoading},
};

constexpr char kHelp[] =
    R"(long-list    one list of --items beside one of 20: get 10, add 1, remove by value, in turn
long-values  a list of 20 values of --value-bytes beside one of short values
churn        reads while items are added and expire, beside the plain structure
cache-hits   reads that a cache answers while it evicts, loads and is written to
expiry       giving back --rows expired rows, beside a wheel with a link in every row
loading      bringing in --rows items: lists put whole, added, and restored from a file
stages       where the time of a get 10 and of a multi-get goes
hot-list     one list under all connections beside lists at random, over the wire
idle         --idle connections that do nothing: memory of one, and what busy ones get beside them
relational   the newest ten by tables of values and of relations, beside one list
journal      what a server gets done with its journal on, beside off
wire-stages  where the server's time for a SELECT goes

Every answer is checked. docs/benchmarks.md explains the lines.

Example:
  list_shapes --only long-list,churn --seconds 5

Exit status: 0; 2 something could not be measured, or an answer was wrong.)";

// `liststore` beside this program.
std::string OwnProgram() {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  return (self.parent_path() / "liststore").string();
}

// The shapes of `only`, or all.
int Measure(const ShapeOptions& options, const std::vector<std::string>& only, bool json) {
  ShapeReport report;
  for (const Shape& shape : kShapes) {
    if (!only.empty() && std::ranges::find(only, shape.name) == only.end()) continue;
    absl::FPrintF(stderr, "%s\n", shape.name);
    const absl::Status status = shape.measure(options, &report);
    if (status.ok()) continue;
    absl::FPrintF(stderr, "list_shapes: %s: %s\n", shape.name, std::string(status.message()));
    return kExitFailed;
  }
  json ? report.PrintJson(stdout) : report.Print(stdout);
  return kExitSame;
}

void MakeQuick(ShapeOptions* options) {
  options->long_items = std::min<uint64_t>(options->long_items, 20'000);
  options->rows = std::min<uint64_t>(options->rows, 20'000);
  options->idle_connections = std::min<uint64_t>(options->idle_connections, 200);
  options->seconds = std::min(options->seconds, 0.05);
}

int Main(int argc, char** argv) {
  ShapeOptions options;
  options.program = OwnProgram();
  std::vector<std::string> only;
  bool json = false, quick = false;
  CommandLine line("Measures lists of odd shapes", "list_shapes");
  const Subcommand program = line.program();
  program.Footer(kHelp);
  std::vector<std::string> names;
  for (const Shape& shape : kShapes) names.push_back(shape.name);
  program.Option("--only", &only, "These alone").PartedBy(',').OneOf(names);
  const auto number = [&program](const char* name, uint64_t* field, const char* text, uint64_t low,
                                 uint64_t high) {
    program.Number(name, field, text).Within(low, high);
  };
  number("--items", &options.long_items, "Items of the long list", 1'000, 100'000'000);
  number("--value-bytes", &options.value_bytes, "Length of the long values", 8, 65'487);
  number("--rows", &options.rows, "Rows that expire, or are loaded", 1'000, 100'000'000);
  number("--idle", &options.idle_connections, "Connections that do nothing", 1, 1'000'000);
  program.Number("--connections", &options.connections, "Connections that are busy")
      .Within(1u, 1'000u);
  program.Option("--seconds", &options.seconds, "Length of one measurement")
      .Within(0.001, 3'600.0)
      .Value("S")
      .ShowDefault();
  program.Option("--program", &options.program, "The liststore whose server is asked")
      .Value("PATH");
  program.Flag("--json", &json, "Print one line of JSON");
  program.Flag("--quick", &quick, "Small sizes and a moment of each: shows that it runs");
  program.Runs([&] {
    if (quick) MakeQuick(&options);
    return Measure(options, only, json);
  });
  return line.Run(argc, argv);
}

}  // namespace
}  // namespace liststore

int main(int argc, char** argv) { return liststore::Main(argc, argv); }
