#include "tools/copy/table_file.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "engine/base/status_macros.h"
#include "engine/base/strings.h"
#include "engine/cql/syntax/quoting.h"
#include "engine/disk/file_calls.h"
#include "engine/disk/whole_file_writer.h"
#include "programs/console/exit_codes.h"
#include "programs/console/failure.h"
#include "programs/console/terminal.h"
#include "programs/console/text.h"
#include "tools/copy/csv.h"
#include "tools/copy/json_fields.h"
#include "tools/copy/remote_schema.h"

namespace liststore {
namespace {

using Kind = RemoteColumn::Kind;

enum class Format : uint8_t {
  kJson,
  kCsv
};

// Inserts under way at a time; few enough for a server that has little memory for clients.
constexpr size_t kUnderWay = 64;
// What a file is written by.
constexpr size_t kWrittenAtOnce = size_t{256} << 10;

constexpr std::string_view kNull = "null";

// Types whose values JSON has as strings; others' values are written into a cell as JSON has them.
bool IsTextInJson(std::string_view type) {
  for (const std::string_view text : {"ascii", "text", "varchar", "blob", "date", "duration",
                                      "inet", "time", "timestamp", "timeuuid", "uuid"}) {
    if (type == text) return true;
  }
  return false;
}

// Servers read a number of JSON as a double on its way into these, unless it comes as a string.
bool HasManyDigits(std::string_view type) {
  return type.find("decimal") != std::string_view::npos ||
         type.find("varint") != std::string_view::npos;
}

absl::StatusOr<Format> FormatOf(const TableFileOptions& options) {
  if (options.format == "json") return Format::kJson;
  if (options.format == "csv") return Format::kCsv;
  for (const std::string_view ending : {".jsonl", ".ndjson", ".json"}) {
    if (absl::EndsWith(options.file, ToAbsl(ending))) return Format::kJson;
  }
  if (absl::EndsWith(options.file, ".csv")) return Format::kCsv;
  return absl::InvalidArgumentError(
      absl::StrCat(options.file, " ends neither in .jsonl nor in .csv: say --format json or csv"));
}

// "feat.clicks" -> "feat", "clicks".
absl::StatusOr<std::pair<std::string, std::string>> NameOf(const std::string& table) {
  const size_t dot = table.find('.');
  if (dot == std::string::npos || dot == 0 || dot + 1 == table.size()) {
    return absl::InvalidArgumentError(absl::StrCat("--table is ", table, ", not KEYSPACE.TABLE"));
  }
  return std::pair(table.substr(0, dot), table.substr(dot + 1));
}

// A server's table, and the connection to it.
struct Side {
  std::unique_ptr<CqlClient> client;
  RemoteTable table;
  uint16_t consistency = kCqlOne;
};

absl::StatusOr<Side> Open(const TableFileOptions& options) {
  LS_ASSIGN_OR_RETURN(const auto name, NameOf(options.table));
  Side side;
  LS_ASSIGN_OR_RETURN(side.client, ConnectTo(options.via, "via-"));
  LS_ASSIGN_OR_RETURN(const RemoteSchema schema, ReadRemoteSchema(*side.client));
  side.consistency = schema.consistency;
  const RemoteKeyspace* const keyspace = schema.Find(name.first);
  const RemoteTable* table = keyspace == nullptr ? nullptr : keyspace->FindTable(name.second);
  const bool exports = options.command == "export";
  if (table == nullptr && keyspace != nullptr && keyspace->FindView(name.second) != nullptr) {
    if (!exports) {
      return absl::InvalidArgumentError(absl::StrCat(
          options.table, " is a view: its rows follow from those of its table, import them"));
    }
    table = &keyspace->FindView(name.second)->table;
  }
  if (table == nullptr) {
    return absl::NotFoundError(absl::StrCat(side.client->server(), " has no table ", options.table,
                                            exports ? "" : ": create it first"));
  }
  side.table = *table;
  if (!exports && side.table.is_counter()) {
    return absl::InvalidArgumentError(
        absl::StrCat(options.table,
                     " has counters, which can only be added to: copy it from a "
                     "server (--from), or start from a snapshot"));
  }
  return side;
}

std::string ColumnList(const RemoteTable& table) {
  return absl::StrJoin(table.columns, ", ", [](std::string* out, const RemoteColumn& column) {
    absl::StrAppend(out, cql::QuoteIdentifier(column.name));
  });
}

// --- To a file -----------------------------------------------------------------------------------

// A file that is there as a whole or not at all, or standard output.
class Output {
 public:
  explicit Output(const std::string& path)
      : writer_(path == "-"
                    ? nullptr
                    : std::make_unique<disk::WholeFileWriter>(disk::KernelFileCalls(), path)) {}
  absl::Status Open() { return writer_ == nullptr ? absl::OkStatus() : writer_->Open(); }
  absl::Status Append(std::string_view bytes) {
    if (writer_ != nullptr) return writer_->Append(bytes);
    if (std::fwrite(bytes.data(), 1, bytes.size(), stdout) == bytes.size()) {
      return absl::OkStatus();
    }
    return absl::UnavailableError("cannot write to standard output");
  }
  absl::Status Finish() {
    if (writer_ != nullptr) return writer_->Publish();
    return std::fflush(stdout) == 0 ? absl::OkStatus()
                                    : absl::UnavailableError("cannot write to standard output");
  }

 private:
  const std::unique_ptr<disk::WholeFileWriter> writer_;
};

absl::Status AppendRow(std::string_view json, const RemoteTable& table, Format format,
                       std::string& out) {
  const std::optional<std::vector<JsonField>> fields = FieldsOf(json);
  if (!fields || fields->size() != table.columns.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the server answers SELECT JSON with what is none: ", ToAbsl(json)));
  }
  if (format == Format::kJson) {
    out += '{';
    bool first = true;
    for (const JsonField& field : *fields) {
      if (field.value == kNull) continue;
      absl::StrAppend(&out, first ? "" : ", ", ToAbsl(field.name), ": ", ToAbsl(field.value));
      first = false;
    }
    out += "}\n";
    return absl::OkStatus();
  }
  std::vector<CsvCell> cells;
  for (size_t i = 0; i < fields->size(); ++i) {
    CsvCell& cell = cells.emplace_back();
    const std::string_view value = (*fields)[i].value;
    if (value == kNull) continue;
    cell = IsTextInJson(table.columns[i].type) ? TextOfJson(value) : std::string(value);
    if (!cell) cell = std::string(value);
  }
  AppendCsvLine(cells, out);
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> ExportRows(const TableFileOptions& options) {
  LS_ASSIGN_OR_RETURN(const Format format, FormatOf(options));
  LS_ASSIGN_OR_RETURN(const Side side, Open(options));
  Output output(options.file);
  LS_RETURN_IF_ERROR(output.Open());
  std::string out;
  if (format == Format::kCsv) {
    std::vector<CsvCell> names;
    for (const RemoteColumn& column : side.table.columns) names.emplace_back(column.name);
    AppendCsvLine(names, out);
  }
  const std::string statement =
      absl::StrCat("SELECT JSON ", ColumnList(side.table), " FROM ", side.table.QuotedName());
  uint64_t count = 0;
  ProgressBar progress("rows");
  std::string paging_state;
  do {
    LS_ASSIGN_OR_RETURN(const CqlRows rows, side.client->Query(statement, {},
                                                               {.page_size = options.page_rows,
                                                                .paging_state = paging_state,
                                                                .consistency = side.consistency}));
    for (size_t row = 0; row < rows.size(); ++row) {
      LS_RETURN_IF_ERROR(AppendRow(rows.at(row, 0), side.table, format, out));
    }
    count += rows.size();
    if (out.size() >= kWrittenAtOnce) {
      LS_RETURN_IF_ERROR(output.Append(out));
      out.clear();
    }
    progress.Update(-1, count);
    paging_state = std::string(rows.paging_state());
  } while (!paging_state.empty());
  LS_RETURN_IF_ERROR(output.Append(out));
  LS_RETURN_IF_ERROR(output.Finish());
  return count;
}

// --- From a file ---------------------------------------------------------------------------------

// A row of a file: a statement and its values.
struct FileRow {
  std::string statement;
  std::vector<std::string> values;
};

// Rows of a file as they are inserted.
class RowSource {
 public:
  RowSource(std::istream& in, const RemoteTable& table, Format format)
      : in_(in), csv_(in), table_(table), format_(format) {}

  // InvalidArgument: its first line names no columns of the table.
  absl::Status Begin() {
    if (format_ == Format::kJson) return absl::OkStatus();
    std::vector<CsvCell> names;
    LS_ASSIGN_OR_RETURN(const bool some, csv_.Next(&names));
    if (!some) return absl::InvalidArgumentError("the file is empty: no line names the columns");
    for (const CsvCell& name : names) {
      const auto column = std::ranges::find(table_.columns, name.value_or(""), &RemoteColumn::name);
      if (column == table_.columns.end()) {
        return absl::InvalidArgumentError(absl::StrCat(
            "the first line names a column ", name.value_or(""), ", and ", table_.ShownName(),
            " has ",
            absl::StrJoin(table_.columns, ", ", [](std::string* out, const RemoteColumn& known) {
              absl::StrAppend(out, known.name);
            })));
      }
      columns_.push_back(&*column);
    }
    return absl::OkStatus();
  }

  // The next row; nullopt: there is none.
  absl::StatusOr<std::optional<FileRow>> Next() {
    LS_ASSIGN_OR_RETURN(std::optional<std::string> json,
                        format_ == Format::kJson ? NextJson() : NextCsv());
    if (!json) return std::optional<FileRow>();
    if (table_.CountOf(Kind::kStatic) > 0) return ByColumns(*json);
    return std::optional(
        FileRow{absl::StrCat("INSERT INTO ", table_.QuotedName(), " JSON ? DEFAULT UNSET"),
                {std::move(*json)}});
  }
  uint64_t line() const { return format_ == Format::kJson ? line_ : csv_.line(); }
  // It has ended before its end.
  bool failed() const { return in_.bad(); }

 private:
  absl::StatusOr<std::optional<std::string>> NextJson() {
    std::string row;
    while (std::getline(in_, row)) {
      ++line_;
      if (row.find_first_not_of(" \t\r") == std::string::npos) continue;
      const std::optional<std::vector<JsonField>> fields = FieldsOf(row);
      if (!fields) return absl::InvalidArgumentError("no JSON object");
      // Null would delete: what a line does not say stays as it is.
      std::string kept = "{";
      for (const JsonField& field : *fields) {
        if (field.value == kNull) continue;
        absl::StrAppend(&kept, kept.size() == 1 ? "" : ", ", ToAbsl(field.name), ": ",
                        Digits(field));
      }
      return std::optional(kept + "}");
    }
    return std::optional<std::string>();
  }

  // INSERT JSON never writes static columns.
  absl::StatusOr<std::optional<FileRow>> ByColumns(std::string_view json) const {
    FileRow row;
    std::string names;
    std::string markers;
    for (const JsonField& field : FieldsOf(json).value_or(std::vector<JsonField>())) {
      const std::string name = TextOfJson(field.name).value_or("");
      if (ColumnOf(name) == nullptr) {
        return absl::InvalidArgumentError(
            absl::StrCat(table_.ShownName(), " has no column ", name));
      }
      absl::StrAppend(&names, names.empty() ? "" : ", ", name);
      absl::StrAppend(&markers, markers.empty() ? "" : ", ", "fromJson(?)");
      row.values.emplace_back(field.value);
    }
    row.statement =
        absl::StrCat("INSERT INTO ", table_.QuotedName(), " (", names, ") VALUES (", markers, ")");
    return std::optional(std::move(row));
  }
  // As CQL writes its name; nullptr: there is none.
  const RemoteColumn* ColumnOf(std::string_view name) const {
    for (const RemoteColumn& column : table_.columns) {
      if (cql::QuoteIdentifier(column.name) == name) return &column;
    }
    return nullptr;
  }

  // The value, with all of its digits.
  std::string Digits(const JsonField& field) const {
    std::string value(field.value);
    const RemoteColumn* const column = ColumnOf(TextOfJson(field.name).value_or(""));
    if (column == nullptr || !HasManyDigits(column->type)) return value;
    return WithQuotedNumbers(value);
  }

  absl::StatusOr<std::optional<std::string>> NextCsv() {
    std::vector<CsvCell> cells;
    while (true) {
      LS_ASSIGN_OR_RETURN(const bool more, csv_.Next(&cells));
      if (!more) return std::optional<std::string>();
      if (cells.size() != 1 || cells[0] || columns_.size() == 1) break;  // an empty line
    }
    if (cells.size() != columns_.size()) {
      return absl::InvalidArgumentError(absl::StrCat(
          cells.size(), " cells, and the first line has ", columns_.size(), " columns"));
    }
    std::string row = "{";
    for (size_t i = 0; i < cells.size(); ++i) {
      if (!cells[i]) continue;
      const std::string& type = columns_[i]->type;
      const bool is_text = IsTextInJson(type) || type == "decimal" || type == "varint";
      if (!is_text && !IsJsonValue(*cells[i])) {
        return absl::InvalidArgumentError(absl::StrCat("column ", columns_[i]->name, ": ",
                                                       *cells[i], " is no ", columns_[i]->type));
      }
      absl::StrAppend(&row, row.size() == 1 ? "" : ", ",
                      JsonOfText(cql::QuoteIdentifier(columns_[i]->name)), ": ",
                      is_text               ? JsonOfText(*cells[i])
                      : HasManyDigits(type) ? WithQuotedNumbers(*cells[i])
                                            : *cells[i]);
    }
    return std::optional(row + "}");
  }

  std::istream& in_;
  CsvReader csv_;
  const RemoteTable& table_;
  const Format format_;
  std::vector<const RemoteColumn*> columns_;  // of CSV
  uint64_t line_ = 0;                         // of JSON
};

// Sends rows, many under way.
class RowInserter {
 public:
  RowInserter(const Side& side, int32_t ttl_seconds)
      : side_(side), ttl_(CqlInt(ttl_seconds)), has_ttl_(ttl_seconds != 0) {
    lines_.resize(kUnderWay);
    for (size_t i = 0; i < kUnderWay; ++i) free_.push_back(static_cast<int16_t>(i));
  }

  absl::Status Insert(const FileRow& row, uint64_t line) {
    auto id = ids_.find(row.statement);
    if (id == ids_.end()) {
      // A request by itself.
      LS_RETURN_IF_ERROR(Finish());
      absl::StatusOr<std::string> prepared =
          side_.client->Prepare(row.statement + (has_ttl_ ? " USING TTL ?" : ""));
      if (!prepared.ok()) {
        refused_line_ = line;
        return prepared.status();
      }
      if (ids_.size() == kStatementsMax) ids_.clear();
      id = ids_.emplace(row.statement, *std::move(prepared)).first;
    }
    if (free_.empty()) LS_RETURN_IF_ERROR(Receive());
    const int16_t stream = free_.back();
    free_.pop_back();
    lines_[static_cast<size_t>(stream)] = line;
    std::vector<std::string_view> values(row.values.begin(), row.values.end());
    if (has_ttl_) values.push_back(ttl_);
    side_.client->requests().Execute(stream, id->second, values,
                                     {.skip_metadata = true, .consistency = side_.consistency});
    return absl::OkStatus();
  }
  // Until everything is answered; the first error.
  absl::Status Finish() {
    while (free_.size() < kUnderWay) LS_RETURN_IF_ERROR(Receive());
    return absl::OkStatus();
  }
  uint64_t inserted() const { return inserted_; }
  // Of the row that was refused; 0: none was.
  uint64_t refused_line() const { return refused_line_; }

 private:
  absl::Status Receive() {
    LS_RETURN_IF_ERROR(side_.client->Send());
    LS_RETURN_IF_ERROR(side_.client->Receive());
    absl::Status status;
    CqlReply reply;
    while (side_.client->Take(&reply)) {
      if (reply.stream < 0 || static_cast<size_t>(reply.stream) >= kUnderWay) {
        return absl::InvalidArgumentError("the server answers what was not asked");
      }
      free_.push_back(reply.stream);
      absl::Status answered = side_.client->ErrorIn(reply, "INSERT");
      if (answered.ok()) {
        ++inserted_;
      } else if (status.ok()) {
        status = std::move(answered);
        refused_line_ = lines_[static_cast<size_t>(reply.stream)];
      }
    }
    return status;
  }

  // Lines of a file need not name the same columns.
  static constexpr size_t kStatementsMax = 256;

  const Side& side_;
  const std::string ttl_;
  const bool has_ttl_;
  std::map<std::string, std::string> ids_;  // by statement
  std::vector<uint64_t> lines_;             // by stream
  std::vector<int16_t> free_;
  uint64_t inserted_ = 0;
  uint64_t refused_line_ = 0;
};

absl::Status AtLine(const TableFileOptions& options, uint64_t line, const absl::Status& status,
                    uint64_t inserted) {
  return absl::Status(status.code(),
                      absl::StrCat(options.file == "-" ? "standard input" : options.file, ":", line,
                                   ": ", status.message(), "; ", Counted(inserted, "row"),
                                   inserted == 1 ? " was inserted" : " were inserted"));
}

absl::StatusOr<uint64_t> ImportRows(const TableFileOptions& options) {
  LS_ASSIGN_OR_RETURN(const Format format, FormatOf(options));
  std::ifstream file;
  if (options.file != "-") {
    file.open(options.file, std::ios::binary);
    if (!file) return absl::NotFoundError(absl::StrCat("cannot read ", options.file));
  }
  LS_ASSIGN_OR_RETURN(const Side side, Open(options));
  RowSource source(options.file == "-" ? std::cin : file, side.table, format);
  if (const absl::Status begun = source.Begin(); !begun.ok()) return AtLine(options, 1, begun, 0);
  RowInserter inserter(side, options.ttl_seconds);
  ProgressBar progress("rows");
  absl::Status status;
  while (status.ok()) {
    const absl::StatusOr<std::optional<FileRow>> row = source.Next();
    if (!row.ok()) {
      // Those before it are answered first.
      status = inserter.Finish();
      if (status.ok()) return AtLine(options, source.line(), row.status(), inserter.inserted());
      break;
    }
    if (!row->has_value()) {
      status = inserter.Finish();
      if (status.ok() && source.failed()) {
        return absl::DataLossError(absl::StrCat("cannot read ", options.file, " to its end; ",
                                                Counted(inserter.inserted(), "row"), " inserted"));
      }
      break;
    }
    status = inserter.Insert(**row, source.line());
    progress.Update(-1, inserter.inserted());
  }
  if (status.ok()) return inserter.inserted();
  if (inserter.refused_line() == 0) return status;
  inserter.Finish().IgnoreError();
  return AtLine(options, inserter.refused_line(), status, inserter.inserted());
}

int Report(const TableFileOptions& options, const absl::StatusOr<uint64_t>& rows) {
  if (!rows.ok()) return ReportFailure(options.command, rows.status());
  absl::FPrintF(stderr, "%s of %s %s %s\n", Counted(*rows, "row"), options.table,
                options.command == "export" ? "written to" : "inserted from",
                options.file == "-"
                    ? "standard " + std::string(options.command == "export" ? "output" : "input")
                    : options.file);
  return kExitSame;
}

}  // namespace

int RunExportToFile(const TableFileOptions& options) {
  return Report(options, ExportRows(options));
}

int RunImportFromFile(const TableFileOptions& options) {
  return Report(options, ImportRows(options));
}

}  // namespace liststore
