#include "tools/liststore/copy_arguments.h"

#include <cstdint>
#include <string>

#include "tools/liststore/connection_arguments.h"
#include "tools/liststore/tls_arguments.h"

namespace liststore {

const char kCopyHelp[] =
    R"(Keyspaces are made with the replication that they have at the source. A cluster of several nodes wants another:

  --replication "{'class': 'NetworkTopologyStrategy', 'dc1': 3}"

What CQL cannot tell, and what becomes of it:
  rows of a key alone       inserted at timestamp 1, with the TTL that the table gives
  that a row was inserted   told by its oldest cells: it lives on as long as they, or as its others
  local indexes             at Cassandra, which has none, ordinary ones
  storage-attached indexes  ordinary ones; custom ones, functions and triggers are left out
  times of elements, fields ScyllaDB and Cassandra 4 do not tell them: from there values are copied as if written
                            now, with the table's TTL; there they are compared by value alone
  TTLs in views             the target's own, not compared
  counters                  their values, without timestamps

)";

const std::string kCopyExitHelp = std::string(kServerHelp) + R"(
Exit status: 0 copied, and both sides are the same; 1 copied, and something differs: the first row is named;
2 a server that cannot be reached or refuses something, a schema that differs, wrong usage.)";

void AddCopyArguments(const Subcommand& command, CopyOptions* options) {
  command.Option("--user", &options->cluster_credentials.user, "Name to log in with there")
      .Value("NAME");
  command
      .Option("--password", &options->cluster_credentials.password,
              "Its password; better in the environment, which nobody else sees")
      .Value("TEXT")
      .FromEnvironment("LISTSTORE_PASSWORD");
  AddTlsArguments(command, "", "the node of the cluster", &options->cluster_tls);
  AddServerArgument(command, "The liststore server", &options->via);
  command.Option("--via-user", &options->via.credentials.user, "Name to log in with there")
      .Value("NAME");
  command.Option("--via-password", &options->via.credentials.password, "Its password")
      .Value("TEXT")
      .FromEnvironment("LISTSTORE_VIA_PASSWORD");
  AddTlsArguments(command, "via-", "the liststore server", &options->via.tls);
  command.Option("--keyspace", &options->keyspaces, "Only this keyspace; repeatable").Value("NAME");
  command.Option("--table", &options->tables, "Only this table; repeatable")
      .Value("KEYSPACE.TABLE");
  command.Option("--replication", &options->replication, "Of keyspaces that are made").Value("MAP");
  const CommandOption schema_only =
      command.Flag("--schema-only", &options->schema_only, "Copy no rows");
  command.Flag("--data-only", &options->data_only, "Make no tables and indexes")
      .Excludes(schema_only);
  command.Flag("--dry-run", &options->dry_run,
               "Write nothing: print the statements and the tables whose rows would follow");
  command.Flag("--no-views", &options->no_views, "Leave materialized views out");
  command.Flag("--roles", &options->roles,
               "Roles too, with their passwords' hashes and what was granted; as superusers");
  command
      .Number("--view-seconds", &options->view_seconds,
              "How long the target may take to fill a view before it is compared")
      .Within(0, 1'000'000);
  command.Number("--page-rows", &options->page_rows, "Rows read at a time").Within(1, 100'000);
}

absl::StatusOr<TableFileOptions> ForFile(const CopyOptions& options, const TableFileOptions& file) {
  if (!options.cluster.empty()) {
    return absl::InvalidArgumentError("a file is given, and a cluster: it is one or the other");
  }
  if (options.tables.size() != 1 || !options.keyspaces.empty()) {
    return absl::InvalidArgumentError("a file has the rows of one table: give one --table");
  }
  if (options.schema_only || options.dry_run || options.roles || !options.replication.empty()) {
    return absl::InvalidArgumentError(
        "--schema-only, --dry-run, --roles and --replication are for a cluster, not for a file");
  }
  TableFileOptions resolved = file;
  resolved.command = options.command;
  resolved.via = options.via;
  resolved.table = options.tables.front();
  resolved.page_rows = options.page_rows;
  return resolved;
}

}  // namespace liststore
