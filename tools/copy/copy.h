// `liststore export` and `liststore import`: tables of a server to another one, schema and rows.
#ifndef LISTSTORE_TOOLS_COPY_COPY_H_
#define LISTSTORE_TOOLS_COPY_COPY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "programs/client/cql_client.h"
#include "programs/client/server_connection.h"

namespace liststore {

struct CopyOptions {
  std::string command;   // "export" or "import"
  ServerConnection via;  // the liststore server: source of export, target of import
  std::string cluster;   // HOST:PORT of a node of the other side
  CqlCredentials cluster_credentials;
  ClientTlsOptions cluster_tls;
  std::vector<std::string> keyspaces;
  std::vector<std::string> tables;  // KEYSPACE.TABLE
  std::string replication;          // a map as CQL writes it; empty: the source's
  bool schema_only = false;
  bool data_only = false;
  bool dry_run = false;
  bool no_views = false;
  bool roles = false;          // too, with what was granted to them
  int32_t view_seconds = 600;  // how long the target may take to fill a view
  int32_t page_rows = 500;
};

// Makes the schema at the target, copies all rows with their timestamps and TTLs, reads both sides
// again and compares them, and so the views of these tables; prints a line for each. Nothing is
// written when the target has something of the schema otherwise. Returns the exit status:
// kExitSame, kExitDifferent when a row differs afterwards, kExitFailed.
int RunCopy(const CopyOptions& options);

}  // namespace liststore

#endif  // LISTSTORE_TOOLS_COPY_COPY_H_
