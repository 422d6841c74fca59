// `liststore export --file` and `liststore import --file`: the rows of one table to and from a file that
// people read and edit, as JSON lines or CSV.
#ifndef LISTSTORE_TOOLS_COPY_TABLE_FILE_H_
#define LISTSTORE_TOOLS_COPY_TABLE_FILE_H_

#include <cstdint>
#include <string>

#include "programs/client/server_connection.h"

namespace liststore {

struct TableFileOptions {
  std::string command;  // "export" or "import"
  ServerConnection via;
  std::string table;        // KEYSPACE.TABLE
  std::string file;         // "-": standard output or input
  std::string format;       // "json" or "csv"; empty: by the file's name
  int32_t ttl_seconds = 0;  // of rows that are imported; 0: the table's
  int32_t page_rows = 500;
};

// Writes all rows, in the order in which the server gives them, a line each; of JSON without the columns
// that are null. The file takes its place when it is whole. Returns the exit status.
int RunExportToFile(const TableFileOptions& options);
// Inserts the rows of the file, as if each were written now. A row that cannot be read, or that the server
// refuses, ends it: it is named by its line, and those before it are there. Returns the exit status.
int RunImportFromFile(const TableFileOptions& options);

}  // namespace liststore

#endif  // LISTSTORE_TOOLS_COPY_TABLE_FILE_H_
