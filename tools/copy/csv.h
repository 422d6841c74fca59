// CSV as RFC 4180 has it: cells parted by commas, in quotation marks where they have to be, which are
// doubled within. An empty cell is nothing; one in quotation marks is an empty text.
#ifndef LISTSTORE_TOOLS_COPY_CSV_H_
#define LISTSTORE_TOOLS_COPY_CSV_H_

#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace liststore {

using CsvCell = std::optional<std::string>;

// Ends with a line feed.
void AppendCsvLine(const std::vector<CsvCell>& cells, std::string& out);

// Used by one thread.
class CsvReader {
 public:
  explicit CsvReader(std::istream& in) : in_(in) {}

  // The next record, which may go over several lines. False: there is none. InvalidArgument: it is
  // none; the message says why.
  absl::StatusOr<bool> Next(std::vector<CsvCell>* cells);
  // On which the last record began, from 1.
  uint64_t line() const { return line_; }

 private:
  std::istream& in_;
  uint64_t line_ = 0;
  uint64_t next_line_ = 1;
};

}  // namespace liststore

#endif  // LISTSTORE_TOOLS_COPY_CSV_H_
