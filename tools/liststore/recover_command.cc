#include "tools/liststore/recover_command.h"

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "liststore/cql_server.h"
#include "programs/console/exit_codes.h"
#include "tools/liststore/reading_line.h"

namespace liststore {
namespace {

constexpr char kRecoverHelp[] =
    R"(For a data directory from which a server does not start, because something in it is damaged (liststore
check DIR): reads all that is whole, says what is missing, and puts that in place of what was there, as a
snapshot. What was damaged is gone for good then: keep a copy of the directory.

Batches of which a part is missing are left out whole. Behind a change of the schema that is missing, writes
to tables that nobody has made cannot be taken, and the recovery ends.

Examples:
  cp -a /var/lib/liststore /var/lib/liststore.damaged
  liststore recover /var/lib/liststore

Exit status: 0 a server starts from it now; 2 it could not be done, and nothing was changed.)";

struct RecoverOptions {
  std::string path;
  std::string like;
  uint64_t memory_limit_bytes = 0;
};

int RunRecover(const RecoverOptions& options) {
  CqlServerOptions server;
  server.data_dir = options.path;
  server.like = options.like;
  server.memory_limit_bytes = options.memory_limit_bytes;
  const absl::Status recovered = [&server, &options] {
    ReadingLine reading("recovering", options.path);
    server.on_keeping = [&reading](std::string_view line) {
      reading.line().Say([line] {
        absl::PrintF("%s\n", std::string(line));
        std::fflush(stdout);
      });
    };
    return CqlServer::RecoverDataDirectory(server);
  }();
  if (recovered.ok()) return kExitSame;
  absl::FPrintF(stderr, "liststore: %s\n", recovered.message());
  return kExitFailed;
}

}  // namespace

void AddRecoverCommand(const Subcommand& program) {
  const Subcommand command =
      program.Add("recover", "Leave out what is damaged of a data directory");
  command.Footer(kRecoverHelp);
  const auto options = std::make_shared<RecoverOptions>();
  command.Option("DIR", &options->path, "The data directory").Required();
  command.Option("--like", &options->like, "Like this database, where the directory does not say")
      .Value("DATABASE");
  command.Bytes("--memory-limit", &options->memory_limit_bytes,
                "Limit on memory for rows [three quarters of the machine's]");
  command.Runs([options] { return RunRecover(*options); });
}

}  // namespace liststore
