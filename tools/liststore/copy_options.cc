#include "tools/liststore/copy_options.h"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

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

Written to the cluster at LOCAL_QUORUM, through the one node that is named. Stop the service's writes meanwhile:
what it writes to a range that was copied already is missing at the cluster, and is reported as a difference.

)";

constexpr char kImportHelp[] =
    R"(Fetches tables from a cluster of ScyllaDB or Cassandra 4 or 5 into a running liststore server: keyspaces, user
types, tables, indexes and views that the server does not have yet, and all rows, each cell, element and field
with its write timestamp and what is left of its TTL. Then reads both sides again, and compares them. Name the
tables that you need: the server keeps everything in memory, and refuses rows beyond its --memory-limit.

What the server has already must be the same: otherwise the differences are listed, and nothing is written. The
same import again changes nothing, but for counters, which go into empty tables alone. The cluster is only read,
at LOCAL_QUORUM, through the one node that is named.

)";

constexpr char kCommonHelp[] =
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

constexpr char kExitHelp[] =
    R"(
Exit status: 0 copied, and both sides are the same; 1 copied, and something differs: the first row is named;
2 a server that cannot be reached or refuses something, a schema that differs, wrong usage.)";

void AddCommon(CLI::App* command, CopyOptions* options) {
  command->add_option("--user", options->cluster_credentials.user, "Name to log in with there")
      ->type_name("NAME");
  command
      ->add_option("--password", options->cluster_credentials.password,
                   "Its password; better in the environment, which nobody else sees")
      ->type_name("TEXT")
      ->envname("LISTSTORE_PASSWORD");
  command->add_option("--via", options->via, "The liststore server")
      ->type_name("HOST:PORT")
      ->required();
  command->add_option("--via-user", options->via_credentials.user, "Name to log in with there")
      ->type_name("NAME");
  command->add_option("--via-password", options->via_credentials.password, "Its password")
      ->type_name("TEXT")
      ->envname("LISTSTORE_VIA_PASSWORD");
  command->add_option("--keyspace", options->keyspaces, "Only this keyspace; repeatable")
      ->type_name("NAME");
  command->add_option("--table", options->tables, "Only this table; repeatable")
      ->type_name("KEYSPACE.TABLE");
  command->add_option("--replication", options->replication, "Of keyspaces that are made")
      ->type_name("MAP");
  CLI::Option* const schema_only =
      command->add_flag("--schema-only", options->schema_only, "Copy no rows");
  command->add_flag("--data-only", options->data_only, "Make no tables and indexes")
      ->excludes(schema_only);
  command->add_flag("--dry-run", options->dry_run,
                    "Write nothing: print the statements and the tables whose rows would follow");
  command->add_flag("--no-views", options->no_views, "Leave materialized views out");
  command
      ->add_option("--view-seconds", options->view_seconds,
                   "How long the target may take to fill a view before it is compared")
      ->check(CLI::Range(int32_t{0}, int32_t{1'000'000}))
      ->type_name("N")
      ->capture_default_str();
  command->add_option("--page-rows", options->page_rows, "Rows read at a time")
      ->check(CLI::Range(int32_t{1}, int32_t{100'000}))
      ->type_name("N")
      ->capture_default_str();
}

}  // namespace

void AddExport(CLI::App* app, CopyOptions* options) {
  CLI::App* const command =
      app->add_subcommand("export", "Copy a server's tables to a ScyllaDB or Cassandra");
  command->footer(std::string(kExportHelp) + kCommonHelp + R"(Examples:
  liststore export --via 127.0.0.1:9042 --to db1.example.org:9042 --dry-run
  liststore export --via 127.0.0.1:9042 --to db1.example.org:9042 --user app --keyspace feature_store
)" + kExitHelp);
  options->command = "export";
  command->add_option("--to", options->cluster, "A node of the cluster")
      ->type_name("HOST:PORT")
      ->required();
  AddCommon(command, options);
}

void AddImport(CLI::App* app, CopyOptions* options) {
  CLI::App* const command =
      app->add_subcommand("import", "Fetch tables of a ScyllaDB or Cassandra into a server");
  command->footer(std::string(kImportHelp) + kCommonHelp + R"(Examples:
  liststore import --from db1.example.org:9042 --via 127.0.0.1:9042 --dry-run
  liststore import --from db1.example.org:9042 --via 127.0.0.1:9042 --user app --table shop.orders
)" + kExitHelp);
  options->command = "import";
  command->add_option("--from", options->cluster, "A node of the cluster")
      ->type_name("HOST:PORT")
      ->required();
  AddCommon(command, options);
}

}  // namespace liststore
