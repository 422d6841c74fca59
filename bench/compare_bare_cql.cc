// A server that does the least that `liststore bench wire` can be answered with, for bench/compare: how far
// sockets, and a look at memory, would allow to go.
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"
#include "bench/peers/cql_answers.h"
#include "bench/peers/frame_loop.h"
#include "programs/console/command_line.h"
#include "programs/console/exit_codes.h"

namespace liststore {
namespace {

constexpr char kHelp[] =
    R"(Listens on a free port of 127.0.0.1, prints one line of JSON with its number, as `liststore serve` does
(cql_port, pid), and serves until its standard input ends. One thread; a client is not bounded by anything
but --lists, so it is for benchmarks alone.

Without --echo it keeps lists in blocks of rows that are found by a hash, and answers rightly. With --echo it
keeps nothing: a SELECT gets ten rows that were written beforehand, as long as ours; ask it with
`liststore bench wire --unchecked`.

Example:
  sleep 60 | compare_bare_cql --lists 50000
  liststore bench wire --via 127.0.0.1:PORT --lists 50000

Exit status: 0; 2 it cannot listen, or its standard input is a file.)";

struct Options {
  bool echo = false;
  uint64_t lists = 1'000'000;
  uint64_t items_per_list = 20;
  uint64_t value_bytes = 24;
};

absl::Status Serve(const Options& options) {
  std::unique_ptr<CqlAnswers> answers;
  if (options.echo) {
    answers = std::make_unique<EchoAnswers>(options.value_bytes);
  } else {
    answers =
        std::make_unique<BareAnswers>(options.lists, options.items_per_list, options.value_bytes);
  }
  absl::StatusOr<std::unique_ptr<FrameLoop>> loop = FrameLoop::Listen(*answers);
  if (!loop.ok()) return loop.status();
  absl::FPrintF(stdout, "{\"cql_port\":%d,\"pid\":%d}\n", (*loop)->port(), getpid());
  std::fflush(stdout);
  return (*loop)->Run(STDIN_FILENO);
}

int Main(int argc, char** argv) {
  Options options;
  CommandLine line("Serves the list model over CQL with nothing behind it but memory",
                   "compare_bare_cql");
  const Subcommand program = line.program();
  program.Footer(kHelp);
  program.Flag("--echo", &options.echo, "Look nothing up: canned answers of the same sizes");
  const auto number = [&program](const char* name, uint64_t* field, const char* text, uint64_t low,
                                 uint64_t high) {
    program.Number(name, field, text).Within(low, high);
  };
  number("--lists", &options.lists, "Lists that it has room for", 1, 100'000'000);
  number("--items", &options.items_per_list, "Items that are expected in each", 1, 1'000);
  number("--value-bytes", &options.value_bytes, "Length of a value", 1, 65'487);
  program.Runs([&options] {
    const absl::Status status = Serve(options);
    if (status.ok()) return kExitSame;
    absl::FPrintF(stderr, "compare_bare_cql: %s\n", std::string(status.message()));
    return kExitFailed;
  });
  return line.Run(argc, argv);
}

}  // namespace
}  // namespace liststore

int main(int argc, char** argv) { return liststore::Main(argc, argv); }
