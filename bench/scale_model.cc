// What a store or a server would do on machines of many cores: a simulation, on a machine of any size.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "bench/scale/machine_costs.h"
#include "bench/scale/scale_costs.h"
#include "bench/scale/scale_report.h"
#include "bench/scale/scale_simulation.h"
#include "programs/console/command_line.h"
#include "programs/console/exit_codes.h"

namespace liststore {
namespace {

constexpr char kHelp[] =
    R"(Simulates loops that each take one request after the other: work of their own, the lane of the list, the
work in it. Where a lane is taken they try, leave mail, yield and sleep as the engine does. Lines that another
core has written, memory and network cost what --set says; the defaults were measured on two cores, but for
memory_gb. docs/scale.md explains the model and has its results.

  loops, cores, lanes   of the machine; a loop is a shard of a server, or a thread that calls a store
  M/s                   million requests a second
  of N x                throughput beside as many times one loop on one core
  taken, mail           requests that found their lane taken; those that its holder did for them
  p50, p99, p99.9       of the time from wanting a lane to the beginning of the work in it
  limit                 what most of the cores' time is lost to: lanes (waiting, and what had to be fetched
                        again), lines (from other cores), memory, network, threads (sharing a core)

With --json one line for each machine; *_share are parts of the cores' time. The same arguments give the same
output. --measure takes some seconds of two cores and prints costs of this machine in the form of --set.

Example:
  scale_model --form wire --mix uniform,zipf,hot --loops 1,16,64
  scale_model --form wire --loops 2,8 --cores 2
  scale_model --form embedded --loops 64 --set transfer=300,memory_gb=100

Exit status: 0; 2 wrong usage, or a file could not be written.)";

struct Options {
  std::vector<std::string> forms = {"wire"};
  std::vector<std::string> mixes = {"uniform", "zipf", "hot"};
  std::vector<std::string> loops = {"1", "2", "4", "8", "16", "32", "64"};
  std::vector<std::string> costs;
  ScaleSetup setup;
  std::string svg;
  bool json = false, measure = false, show_costs = false;
};

int Fail(const std::string& message) {
  absl::FPrintF(stderr, "scale_model: %s\n", message);
  return kExitFailed;
}

ScaleMix MixNamed(const std::string& name) {
  for (const ScaleMix mix : {ScaleMix::kZipf, ScaleMix::kHot}) {
    if (name == NameOf(mix)) return mix;
  }
  return ScaleMix::kUniform;
}

absl::Status ReadLoops(const std::vector<std::string>& texts, std::vector<uint32_t>* loops) {
  constexpr uint32_t kMost = 1'024;
  for (const std::string& text : texts) {
    uint32_t number = 0;
    if (!absl::SimpleAtoi(text, &number) || number < 1 || number > kMost) {
      return absl::InvalidArgumentError(
          absl::StrCat("--loops ", text, ": loops are whole numbers from 1 to ", kMost));
    }
    loops->push_back(number);
  }
  return absl::OkStatus();
}

// So many that every shard of the largest machine is sure to have some.
uint64_t ListsForShards(const std::vector<uint32_t>& loops, const ScaleSetup& setup) {
  return uint64_t{64} * setup.lanes_per_loop * *std::ranges::max_element(loops);
}

// One form and mix with each number of loops.
void Simulate(const std::string& form, ScaleSetup setup, const std::vector<uint32_t>& loops,
              std::vector<ScaleLine>* lines) {
  setup.loops = 1;
  const double one = ScaleSimulation(setup).Run().per_second();
  for (const uint32_t number : loops) {
    setup.loops = number;
    lines->push_back({form, setup, ScaleSimulation(setup).Run(), one});
  }
}

int Run(const Options& options) {
  if (options.measure) {
    PrintMachineCosts(stdout);
    return kExitSame;
  }
  std::vector<uint32_t> loops;
  if (const absl::Status status = ReadLoops(options.loops, &loops); !status.ok()) {
    return Fail(std::string(status.message()));
  }
  std::vector<ScaleLine> lines;
  for (const std::string& form : options.forms) {
    ScaleSetup setup = options.setup;
    setup.costs = FindScaleForm(form)->costs;
    for (const std::string& cost : options.costs) {
      if (const absl::Status status = SetCost(cost, &setup.costs); !status.ok()) {
        return Fail(absl::StrCat("--set ", status.message()));
      }
    }
    if (options.show_costs) {
      absl::FPrintF(stdout, "%s\n%s\n", form, DescribeCosts(setup.costs));
      continue;
    }
    if (setup.aware_percent > 0 && setup.lists < ListsForShards(loops, setup)) {
      return Fail(absl::StrCat("--lists ", setup.lists,
                               ": with --aware each shard needs lists of its own, ",
                               ListsForShards(loops, setup), " in all"));
    }
    for (const std::string& mix : options.mixes) {
      setup.mix = MixNamed(mix);
      Simulate(form, setup, loops, &lines);
    }
  }
  if (options.show_costs) return kExitSame;
  options.json ? PrintScaleJson(lines, stdout) : PrintScale(lines, stdout);
  if (options.svg.empty()) return kExitSame;
  std::ofstream file(options.svg);
  file << ScaleChart(lines);
  file.close();
  if (!file) return Fail(absl::StrCat("--svg ", options.svg, ": it could not be written"));
  return kExitSame;
}

int Main(int argc, char** argv) {
  Options options;
  ScaleSetup& setup = options.setup;
  CommandLine line("Simulates stores and servers on machines of many cores", "scale_model");
  const Subcommand program = line.program();
  program.Footer(kHelp);
  std::vector<std::string> forms;
  for (const ScaleForm& form : ScaleForms()) forms.push_back(form.name);
  program.Option("--form", &options.forms, "Who asks: embedded, multiget, wire [wire]")
      .PartedBy(',')
      .OneOf(forms);
  program.Option("--mix", &options.mixes, "Which lists: uniform, zipf, hot [all]")
      .PartedBy(',')
      .OneOf({"uniform", "zipf", "hot"});
  program.Option("--loops", &options.loops, "Loops [1,2,4,8,16,32,64]").PartedBy(',').Value("N,N");
  program.Number("--cores", &setup.cores, "Cores that they share; 0: one each").Within(0u, 1'024u);
  program.Number("--lanes", &setup.lanes_per_loop, "Lanes for each loop").Within(1u, 4'096u);
  program.Number("--lists", &setup.lists, "Lists").Within(uint64_t{1'000}, uint64_t{1'000'000'000});
  program.Number("--zipf", &setup.zipf, "Exponent of zipf").Within(0.01, 10.0);
  program.Number("--hot-percent", &setup.hot_percent, "Of hot: requests for the one list")
      .Within(0.0, 100.0);
  program.Number("--writes", &setup.write_percent, "Per cent of the requests that write")
      .Within(0.0, 100.0);
  program
      .Number("--aware", &setup.aware_percent,
              "Per cent of the requests that come to the loop of their shard")
      .Within(0.0, 100.0);
  program.Number("--milliseconds", &setup.milliseconds, "Simulated time").Within(0.1, 60'000.0);
  program.Number("--seed", &setup.seed, "Of all that is drawn").Within(uint64_t{0}, UINT64_MAX);
  program.Option("--set", &options.costs, "Costs in place of the defaults")
      .PartedBy(',')
      .Value("NAME=N,...");
  program.Flag("--costs", &options.show_costs, "Print the costs by name, and do no more");
  program.Flag("--measure", &options.measure, "Measure costs of this machine, and do no more");
  program.Option("--svg", &options.svg, "Write a chart").Value("FILE");
  program.Flag("--json", &options.json, "Print lines of JSON");
  program.Runs([&options] { return Run(options); });
  return line.Run(argc, argv);
}

}  // namespace
}  // namespace liststore

int main(int argc, char** argv) { return liststore::Main(argc, argv); }
