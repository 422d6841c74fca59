// Pages of an answer, printed as they come.
#ifndef LISTSTORE_TOOLS_QUERY_RESULT_PRINTER_H_
#define LISTSTORE_TOOLS_QUERY_RESULT_PRINTER_H_

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "programs/client/cql_client.h"
#include "tools/query/result_columns.h"

namespace liststore {

enum class ResultFormat : uint8_t {
  kTable,  // aligned, numbers to the right; control characters as \xNN
  kJson,   // an object for each row, on a line of its own
  kCsv,    // RFC 4180, but that lines end with a line feed; the first names the columns
};

// "table", "json", "csv": what ParseResultFormat takes.
extern const std::vector<std::string> kResultFormats;
// Of one of these.
ResultFormat ParseResultFormat(const std::string& name);

// One answer. One thread. Columns of a table are as wide as the widest value so far: the first page
// decides, and later ones may make them wider.
class ResultPrinter {
 public:
  // `out` outlives the printer.
  ResultPrinter(ResultFormat format, std::FILE* out) : format_(format), out_(out) {}

  // The next page, maybe of no rows, which has its columns' names and types; nothing is printed of an
  // answer that has none. InvalidArgument: it cannot be read. Unavailable: nothing more can be
  // written.
  absl::Status Print(const CqlRows& page);
  // What a table ends with: how many rows it has; or how many so far, when there are more that nobody wants.
  void Finish();
  void FinishEarly();

 private:
  void PrintCount(const char* more);
  void PrintTable(const CqlRows& page);
  void PrintJson(const CqlRows& page);
  void PrintCsv(const CqlRows& page);
  std::string Line(const std::vector<std::string>& cells) const;

  const ResultFormat format_;
  std::FILE* const out_;
  std::vector<ResultColumn> columns_;
  std::vector<size_t> widths_;
  bool has_header_ = false;
  uint64_t rows_ = 0;
};

}  // namespace liststore

#endif  // LISTSTORE_TOOLS_QUERY_RESULT_PRINTER_H_
