#include "tools/query/result_printer.h"

#include <algorithm>
#include <limits>
#include <string_view>

#include "engine/base/check.h"
#include "engine/base/status_macros.h"
#include "engine/cql/values/encode_json.h"
#include "programs/console/text.h"
#include "tools/copy/csv.h"
#include "tools/copy/json_fields.h"
#include "tools/query/value_text.h"

namespace liststore {
namespace {

std::string JsonOf(const DataType& type, std::string_view value) {
  if (!type.IsValid(value)) return JsonOfText(ValueText(type, value));
  const cql::CqlOr<std::string> json = cql::EncodeJson(type, value);
  // Numbers without bytes, and those of too many digits.
  return json.ok() ? *json : JsonOfText(ValueText(type, value));
}

}  // namespace

const std::vector<std::string> kResultFormats = {"table", "json", "csv"};

ResultFormat ParseResultFormat(const std::string& name) {
  const auto at = std::ranges::find(kResultFormats, name);
  LS_CHECK(at != kResultFormats.end(), "the command line takes no other format");
  return static_cast<ResultFormat>(at - kResultFormats.begin());
}

std::string ResultPrinter::Line(const std::vector<std::string>& cells) const {
  std::string line;
  for (size_t i = 0; i < cells.size(); ++i) {
    line += i == 0 ? " " : " | ";
    if (IsNumber(columns_[i].type)) {
      line += std::string(widths_[i] - std::min(widths_[i], Columns(cells[i])), ' ') + cells[i];
    } else {
      line += Padded(cells[i], widths_[i]);
    }
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + '\n';
}

void ResultPrinter::PrintTable(const CqlRows& page) {
  constexpr size_t kWhole = std::numeric_limits<size_t>::max();
  std::vector<std::vector<std::string>> lines;
  for (size_t row = 0; row < page.size(); ++row) {
    std::vector<std::string>& cells = lines.emplace_back();
    for (size_t i = 0; i < columns_.size(); ++i) {
      cells.push_back(page.is_null(row, i)
                          ? "null"
                          : Printable(ValueText(columns_[i].type, page.at(row, i)), kWhole));
      widths_[i] = std::max(widths_[i], Columns(cells.back()));
    }
  }
  std::string text;
  if (!has_header_) {
    std::vector<std::string> names;
    for (size_t i = 0; i < columns_.size(); ++i) {
      names.push_back(Printable(columns_[i].name, kWhole));
      widths_[i] = std::max(widths_[i], Columns(names.back()));
    }
    text += Line(names);
    for (size_t i = 0; i < widths_.size(); ++i) {
      text += (i == 0 ? "" : "+") + std::string(widths_[i] + 2, '-');
    }
    text += '\n';
  }
  for (const std::vector<std::string>& cells : lines) text += Line(cells);
  std::fwrite(text.data(), 1, text.size(), out_);
}

void ResultPrinter::PrintJson(const CqlRows& page) {
  std::string text;
  for (size_t row = 0; row < page.size(); ++row) {
    for (size_t i = 0; i < columns_.size(); ++i) {
      text += (i == 0 ? "{" : ", ") + JsonOfText(columns_[i].name) + ": ";
      text += page.is_null(row, i) ? "null" : JsonOf(columns_[i].type, page.at(row, i));
    }
    text += "}\n";
  }
  std::fwrite(text.data(), 1, text.size(), out_);
}

void ResultPrinter::PrintCsv(const CqlRows& page) {
  std::string text;
  std::vector<CsvCell> cells;
  if (!has_header_) {
    for (const ResultColumn& column : columns_) cells.emplace_back(column.name);
    AppendCsvLine(cells, text);
  }
  for (size_t row = 0; row < page.size(); ++row) {
    cells.clear();
    for (size_t i = 0; i < columns_.size(); ++i) {
      CsvCell& cell = cells.emplace_back();
      if (!page.is_null(row, i)) cell = ValueText(columns_[i].type, page.at(row, i));
    }
    AppendCsvLine(cells, text);
  }
  std::fwrite(text.data(), 1, text.size(), out_);
}

absl::Status ResultPrinter::Print(const CqlRows& page) {
  LS_ASSIGN_OR_RETURN(columns_, ReadResultColumns(page.body()));
  if (columns_.empty()) return absl::OkStatus();
  if (page.size() > 0 && page.columns() != columns_.size()) {
    return absl::InvalidArgumentError("the answer's rows have other columns than it says");
  }
  widths_.resize(columns_.size());
  switch (format_) {
    case ResultFormat::kTable:
      PrintTable(page);
      break;
    case ResultFormat::kJson:
      PrintJson(page);
      break;
    case ResultFormat::kCsv:
      PrintCsv(page);
      break;
  }
  has_header_ = true;
  rows_ += page.size();
  // What did not fit its buffer was written before, and is only told by ferror().
  if (std::fflush(out_) == 0 && std::ferror(out_) == 0) return absl::OkStatus();
  return absl::UnavailableError("the output cannot be written");
}

void ResultPrinter::Finish() { PrintCount(""); }

void ResultPrinter::FinishEarly() { PrintCount(", and more"); }

void ResultPrinter::PrintCount(const char* more) {
  if (format_ != ResultFormat::kTable || !has_header_) return;
  const std::string text = "\n(" + Counted(rows_, "row") + more + ")\n";
  std::fwrite(text.data(), 1, text.size(), out_);
  std::fflush(out_);
}

}  // namespace liststore
