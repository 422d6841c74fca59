#include "tools/liststore/import_command.h"

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "programs/console/failure.h"
#include "tools/copy/copy.h"
#include "tools/liststore/copy_arguments.h"

namespace liststore {
namespace {

constexpr char kImportHelp[] =
    R"(Fetches tables from a cluster of ScyllaDB or Cassandra 4 or 5 into a running liststore server: keyspaces, user
types, tables, indexes and views that the server does not have yet, and all rows, each cell, element and field
with its write timestamp and what is left of its TTL. Then reads both sides again, and compares them. Name the
tables that you need: the server keeps everything in memory, and refuses rows beyond its --memory-limit.

With --file the other side is a file with the rows of one table, for people to read and edit, and to keep beside a
test: JSON lines (.jsonl), or CSV whose first line names the columns (.csv); - is standard input. Its rows are
inserted as if written now, into a table that is there; of a row that cannot be inserted the line is named, and
those before it are there. What a line does not say of a row, or says to be null, stays as it is.

What the server has already must be the same: otherwise the differences are listed, and nothing is written. The
same import again changes nothing, but for counters, which go into empty tables alone. The cluster is only read,
at LOCAL_QUORUM, through the one node that is named.

)";

constexpr char kImportExamples[] =
    R"(Examples:
  liststore import --from db1.example.org:9042 --via 127.0.0.1:9042 --dry-run
  liststore import --from db1.example.org:9042 --via 127.0.0.1:9042 --user app --table shop.orders
  liststore import --file clicks.csv --via 127.0.0.1:9042 --table feat.clicks --ttl 86400
)";

}  // namespace

void AddImportCommand(const Subcommand& program) {
  const Subcommand command =
      program.Add("import", "Fetch tables of a ScyllaDB or Cassandra into a server");
  command.Footer(std::string(kImportHelp) + kCopyHelp + kImportExamples + kCopyExitHelp);
  const auto options = std::make_shared<CopyOptions>();
  options->command = "import";
  command.Option("--from", &options->cluster, "A node of the cluster").Value("HOST:PORT");
  const auto file = std::make_shared<TableFileOptions>();
  command.Option("--file", &file->file, "Insert the rows of this file into one table instead")
      .Value("FILE");
  command.Option("--format", &file->format, "Of that file [by its name]").OneOf({"json", "csv"});
  command.Number("--ttl", &file->ttl_seconds, "Of rows of that file, in seconds; 0: the table's")
      .Within(0, 630'720'000);
  AddCopyArguments(command, options.get());
  command.Runs([options, file] {
    if (file->file.empty()) {
      if (!options->cluster.empty()) return RunCopy(*options);
      return ReportFailure(options->command,
                           absl::InvalidArgumentError(
                               "--from HOST:PORT, a node of the cluster, or --file is wanted"));
    }
    const absl::StatusOr<TableFileOptions> resolved = ForFile(*options, *file);
    return resolved.ok() ? RunImportFromFile(*resolved)
                         : ReportFailure(options->command, resolved.status());
  });
}

}  // namespace liststore
