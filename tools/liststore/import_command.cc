#include "tools/liststore/import_command.h"

#include <memory>
#include <string>

#include "tools/copy/copy.h"
#include "tools/liststore/copy_arguments.h"

namespace liststore {
namespace {

constexpr char kImportHelp[] =
    R"(Fetches tables from a cluster of ScyllaDB or Cassandra 4 or 5 into a running liststore server: keyspaces, user
types, tables, indexes and views that the server does not have yet, and all rows, each cell, element and field
with its write timestamp and what is left of its TTL. Then reads both sides again, and compares them. Name the
tables that you need: the server keeps everything in memory, and refuses rows beyond its --memory-limit.

What the server has already must be the same: otherwise the differences are listed, and nothing is written. The
same import again changes nothing, but for counters, which go into empty tables alone. The cluster is only read,
at LOCAL_QUORUM, through the one node that is named.

)";

constexpr char kImportExamples[] =
    R"(Examples:
  liststore import --from db1.example.org:9042 --via 127.0.0.1:9042 --dry-run
  liststore import --from db1.example.org:9042 --via 127.0.0.1:9042 --user app --table shop.orders
)";

}  // namespace

void AddImportCommand(const Subcommand& program) {
  const Subcommand command =
      program.Add("import", "Fetch tables of a ScyllaDB or Cassandra into a server");
  command.Footer(std::string(kImportHelp) + kCopyHelp + kImportExamples + kCopyExitHelp);
  const auto options = std::make_shared<CopyOptions>();
  options->command = "import";
  command.Option("--from", &options->cluster, "A node of the cluster")
      .Value("HOST:PORT")
      .Required();
  AddCopyArguments(command, options.get());
  command.Runs([options] { return RunCopy(*options); });
}

}  // namespace liststore
