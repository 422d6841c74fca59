#include "tools/liststore/export_command.h"

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "programs/console/failure.h"
#include "tools/copy/copy.h"
#include "tools/liststore/copy_arguments.h"

namespace liststore {
namespace {

constexpr char kExportHelp[] =
    R"(Copies what a running liststore server holds to a cluster of ScyllaDB or Cassandra 4 or 5: keyspaces, user
types, tables, indexes and views that the cluster does not have yet, and all rows, each cell, element and field
with its write timestamp and what is left of its TTL. Then reads both sides again, and compares them, with views
when the cluster has filled them.

What the cluster has already must be the same: otherwise the differences are listed, and nothing is written. The
same export again changes nothing, so one that broke off is run again; but counters can only be added to, and so
can lists of Cassandra: tables that have them must be empty there.

With --file the other side is a file with the rows of one table, for people to read and edit, and to keep beside a
test: JSON lines (.jsonl), or CSV whose first line names the columns (.csv); - is standard output. A value is
written as SELECT JSON writes it, a column that is null not at all. Write timestamps and TTLs are not in it: a
snapshot has them, or a copy to a server.

Written to the cluster at LOCAL_QUORUM, through the one node that is named. Stop the service's writes meanwhile:
what it writes to a range that was copied already is missing at the cluster, and is reported as a difference.

)";

constexpr char kExportExamples[] =
    R"(Examples:
  liststore export --via 127.0.0.1:9042 --to db1.example.org:9042 --dry-run
  liststore export --via 127.0.0.1:9042 --to db1.example.org:9042 --user app --keyspace feature_store
  liststore export --via 127.0.0.1:9042 --table feat.clicks --file clicks.jsonl
)";

}  // namespace

void AddExportCommand(const Subcommand& program) {
  const Subcommand command =
      program.Add("export", "Copy a server's tables to a ScyllaDB or Cassandra");
  command.Footer(std::string(kExportHelp) + kCopyHelp + kExportExamples + kCopyExitHelp);
  const auto options = std::make_shared<CopyOptions>();
  options->command = "export";
  command.Option("--to", &options->cluster, "A node of the cluster").Value("HOST:PORT");
  const auto file = std::make_shared<TableFileOptions>();
  command.Option("--file", &file->file, "Write the rows of one table to this file instead")
      .Value("FILE");
  command.Option("--format", &file->format, "Of that file [by its name]").OneOf({"json", "csv"});
  AddCopyArguments(command, options.get());
  command.Runs([options, file] {
    if (file->file.empty()) {
      if (!options->cluster.empty()) return RunCopy(*options);
      return ReportFailure(
          options->command,
          absl::InvalidArgumentError("--to HOST:PORT, a node of the cluster, or --file is wanted"));
    }
    const absl::StatusOr<TableFileOptions> resolved = ForFile(*options, *file);
    return resolved.ok() ? RunExportToFile(*resolved)
                         : ReportFailure(options->command, resolved.status());
  });
}

}  // namespace liststore
