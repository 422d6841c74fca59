#include "tools/copy/csv.h"

#include "absl/status/status.h"

namespace liststore {

void AppendCsvLine(const std::vector<CsvCell>& cells, std::string& out) {
  for (size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) out += ',';
    if (!cells[i]) continue;
    const std::string& cell = *cells[i];
    if (!cell.empty() && cell.find_first_of(",\"\r\n") == std::string::npos) {
      out += cell;
      continue;
    }
    out += '"';
    for (const char c : cell) {
      if (c == '"') out += '"';
      out += c;
    }
    out += '"';
  }
  out += '\n';
}

absl::StatusOr<bool> CsvReader::Next(std::vector<CsvCell>* cells) {
  cells->clear();
  line_ = next_line_;
  int c = in_.get();
  if (c == std::istream::traits_type::eof()) return false;
  constexpr int kEnd = std::istream::traits_type::eof();
  while (true) {
    CsvCell cell;
    if (c == '"') {
      cell.emplace();
      while (true) {
        c = in_.get();
        if (c == kEnd) return absl::InvalidArgumentError("the file ends within quotation marks");
        if (c == '"') {
          c = in_.get();
          if (c != '"') break;
        }
        if (c == '\n') ++next_line_;
        *cell += static_cast<char>(c);
      }
    } else {
      for (; c != ',' && c != '\n' && c != '\r' && c != kEnd; c = in_.get()) {
        if (c == '"') {
          return absl::InvalidArgumentError(
              "a quotation mark within a cell that does not begin with one");
        }
        if (!cell) cell.emplace();
        *cell += static_cast<char>(c);
      }
    }
    cells->push_back(std::move(cell));
    if (c == '\r') c = in_.get();
    if (c == '\n' || c == kEnd) {
      ++next_line_;
      return true;
    }
    if (c != ',') {
      return absl::InvalidArgumentError("something follows the quotation marks of a cell");
    }
    c = in_.get();
    if (c == kEnd) {
      cells->emplace_back();
      ++next_line_;
      return true;
    }
  }
}

}  // namespace liststore
