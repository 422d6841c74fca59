#include "tools/liststore/check_command.h"

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"
#include "liststore/data_directory.h"
#include "programs/console/exit_codes.h"
#include "tools/liststore/reading_line.h"

namespace liststore {
namespace {

constexpr char kCheckHelp[] =
    R"(Reads everything that a server keeps in DIR (serve --data-dir DIR), which no server may have meanwhile, and
says a line for each log: how much it holds, whether its end was cut off by a crash, which is no damage, and
what is damaged: which file, where, and between which instants what is missing was written.

Examples:
  liststore check /var/lib/liststore

Exit status: 0 all is whole; 1 something is damaged; 2 it cannot be read, or a server has it.)";

int RunCheck(const std::string& path) {
  const absl::StatusOr<bool> is_whole = [&path] {
    ReadingLine reading("checking", path);
    return CheckDataDirectory(path, [&reading](std::string_view line) {
      reading.line().Say([line] {
        absl::PrintF("%s\n", std::string(line));
        std::fflush(stdout);
      });
    });
  }();
  if (!is_whole.ok()) {
    absl::FPrintF(stderr, "liststore: %s\n", is_whole.status().message());
    return kExitFailed;
  }
  absl::PrintF("%s\n", *is_whole ? "everything is whole" : "something is DAMAGED");
  return *is_whole ? kExitSame : kExitDifferent;
}

}  // namespace

void AddCheckCommand(const Subcommand& program) {
  const Subcommand command = program.Add("check", "Tell whether a data directory is whole");
  command.Footer(kCheckHelp);
  const auto path = std::make_shared<std::string>();
  command.Option("DIR", path.get(), "The data directory").Required();
  command.Runs([path] { return RunCheck(*path); });
}

}  // namespace liststore
