// `liststore query`: statements to a server, and its answers printed.
#ifndef LISTSTORE_TOOLS_QUERY_QUERY_H_
#define LISTSTORE_TOOLS_QUERY_QUERY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "programs/client/cql_client.h"
#include "programs/client/server_connection.h"
#include "tools/query/result_printer.h"

namespace liststore {

// Of a page, whoever asks for it.
inline constexpr uint32_t kPageRowsMax = 1'000'000;

struct QueryOptions {
  ServerConnection server = {};
  // May have several statements. Empty: what standard input has.
  std::string text = {};
  std::string format = "table";
  uint32_t page_rows = 1000;
  bool timing = false;
};

// How answers are printed.
struct AnswerOptions {
  ResultFormat format = ResultFormat::kTable;
  int32_t page_rows = 1000;
  // Says on standard error how long the first page and the whole answer took.
  bool timing = false;
};

// What came of a statement.
struct PrintedPages {
  uint64_t pages = 0;
  double first_ms = 0;  // until the first was there
  double all_ms = 0;    // until the last was printed
};
// Sends a statement and prints the pages of its answer as they come; the printer is not finished.
// Statuses as below.
absl::StatusOr<PrintedPages> PrintPages(CqlClient& client, const std::string& statement,
                                        int32_t page_rows, ResultPrinter* printer);

// Sends a statement and prints what comes on standard output, a page at a time. Statuses are the
// client's, and those of ResultPrinter.
absl::Status PrintAnswer(CqlClient& client, const std::string& statement,
                         const AnswerOptions& options);

// Each statement in turn, up to the first that fails, whose error is said on standard error in the
// name of `command`. Returns the exit status.
int RunStatements(const std::string& command, const ServerConnection& server,
                  const std::vector<std::string>& statements, const AnswerOptions& options);

// The statements of `options`, or of standard input where that has none. Errors are said in the name of
// `command`. Returns the exit status.
int RunQuery(const std::string& command, const QueryOptions& options);

}  // namespace liststore

#endif  // LISTSTORE_TOOLS_QUERY_QUERY_H_
