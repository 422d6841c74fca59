#include "tools/console/console.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_format.h"
#include "engine/base/status_macros.h"
#include "engine/base/strings.h"
#include "engine/cql/syntax/lexer.h"
#include "engine/cql/syntax/quoting.h"
#include "engine/protocol/primitives.h"
#include "liststore/version.h"
#include "programs/client/cql_client.h"
#include "programs/console/exit_codes.h"
#include "programs/console/failure.h"
#include "programs/console/terminal.h"
#include "programs/console/text.h"
#include "tools/console/console_settings.h"
#include "tools/console/error_place.h"
#include "tools/console/history_file.h"
#include "tools/console/line_editor.h"
#include "tools/console/schema_names.h"
#include "tools/console/terminal_description.h"
#include "tools/console/terminal_input.h"
#include "tools/query/result_columns.h"
#include "tools/query/split_statements.h"

namespace liststore {
namespace {

using SteadyClock = std::chrono::steady_clock;

// Kinds of a RESULT. Source: native_protocol_v4.spec, section 4.2.5.
constexpr int32_t kSetKeyspace = 3;
constexpr int32_t kSchemaChange = 5;

// Other clients make tables too.
constexpr std::chrono::seconds kSchemaAge{10};
// Of the Tab key: nothing can be typed, or cancelled, meanwhile.
constexpr std::chrono::seconds kSchemaPatience{2};

bool IsDescribe(const std::string& statement) {
  const cql::Keyword first = cql::Lexer(statement).Next().keyword;
  return first == cql::Keyword::kDESCRIBE || first == cql::Keyword::kDESC;
}

bool MovesCursor() {
  const char* const terminal = std::getenv("TERM");
  return terminal != nullptr && *terminal != '\0' && std::string_view(terminal) != "dumb";
}

class Console {
 public:
  explicit Console(const ConsoleOptions& options)
      : options_(options),
        settings_{
            .format = options.format, .page_rows = options.page_rows, .timing = options.timing},
        history_(DefaultHistoryPath()),
        editor_([this](std::string_view before, std::string_view behind) {
          return CompleteLine(before, behind);
        }) {}

  absl::Status Connect();
  void Run();

 private:
  // What is in front of what is typed.
  std::string Prompt() const;
  // False: leave.
  bool TakeLine(const std::string& line);
  void Remember(const std::string& entry);
  // False: leave.
  bool RunCommand(const std::string& line);
  absl::Status Describe(std::string_view name);
  // False: it was refused, or cancelled.
  bool RunStatement(const std::string& statement);
  absl::Status PrintAnswer(const std::string& statement);
  // Of one page; `printer` takes what has rows.
  absl::Status PrintPage(const std::string& statement, const CqlRows& page, ResultPrinter* printer);
  // Whether the one at the terminal wants the next page; what else is typed is the editor's.
  bool WantsMore();
  void Say(const std::string& statement, const absl::Status& status);
  Completion CompleteLine(std::string_view before, std::string_view behind);
  const SchemaNames& Schema();

  const ConsoleOptions& options_;
  ConsoleSettings settings_;
  const HistoryFile history_;
  std::unique_ptr<CqlClient> client_;  // none: the connection broke
  std::string keyspace_;               // in use; maybe none
  SchemaNames schema_;
  SteadyClock::time_point schema_ends_{};  // until then it is taken for the server's
  std::string typed_;                      // of a statement that goes on
  char open_ = 0;                          // what its last line stops in
  bool says_history_failed_ = true;
  LineEditor editor_;
};

absl::Status Console::Connect() {
  LS_ASSIGN_OR_RETURN(client_, ConnectTo(options_.server));
  schema_ends_ = {};
  if (keyspace_.empty()) return absl::OkStatus();
  const absl::Status used = client_->Query("USE " + cql::QuoteIdentifier(keyspace_)).status();
  if (used.ok()) return used;
  const std::string words = ServerWords(used);
  if (words.empty()) {
    client_.reset();
    return used;
  }
  // A server that was started again may not have it.
  absl::FPrintF(stderr, "keyspace %s is not in use any more: %s\n", PrintableLines(keyspace_),
                PrintableLines(words));
  keyspace_.clear();
  return absl::OkStatus();
}

std::string Console::Prompt() const {
  const std::string first =
      keyspace_.empty() ? "liststore> " : "liststore:" + PrintableLines(keyspace_) + "> ";
  if (typed_.empty()) return first;
  return std::string(Columns(first) - 3, ' ') + (open_ == 0 ? '-' : open_) + "> ";
}

void Console::Run() {
  absl::PrintF("liststore %s at %s\nStatements end with ';'. \\help lists commands, \\q leaves.\n",
               kVersion, client_->server());
  for (const std::string& entry : history_.Load()) editor_.AddToHistory(entry);
  while (true) {
    std::fflush(stdout);
    std::string line;
    switch (editor_.Read(Prompt(), &line)) {
      case LineEditor::Outcome::kEnd:
        std::puts("");
        return;
      case LineEditor::Outcome::kCancelled:
        typed_.clear();
        open_ = 0;
        break;
      case LineEditor::Outcome::kLine:
        if (!TakeLine(line)) return;
        break;
    }
  }
}

bool Console::TakeLine(const std::string& line) {
  if (typed_.empty() && IsForConsole(line)) {
    Remember(line);
    return RunCommand(line);
  }
  typed_ += typed_.empty() ? line : '\n' + line;
  TypedStatements split = SplitTyped(typed_);
  if (split.ended.empty()) {
    // Nothing but blanks and comments.
    if (split.begun.empty() && split.open == 0) typed_.clear();
    open_ = split.open;
    return true;
  }
  std::string entry = typed_;
  if (!split.begun.empty()) entry.resize(entry.rfind(split.begun));
  Remember(entry);
  typed_ = std::move(split.begun);
  open_ = split.open;
  const InterruptWatch watch;
  for (size_t i = 0; i < split.ended.size(); ++i) {
    if (RunStatement(split.ended[i])) continue;
    // They may build on it.
    const size_t left = split.ended.size() - i - 1;
    if (left > 0) absl::FPrintF(stderr, "%s behind it: not sent\n", Counted(left, "statement"));
    break;
  }
  return true;
}

void Console::Remember(const std::string& entry) {
  editor_.AddToHistory(entry);
  const absl::Status kept = history_.Add(entry);
  if (kept.ok() || !says_history_failed_) return;
  says_history_failed_ = false;  // once is enough
  absl::FPrintF(stderr, "what is typed is not kept: %s\n", kept.message());
}

bool Console::RunCommand(const std::string& line) {
  const absl::StatusOr<ConsoleCommand> command = ParseConsoleCommand(line);
  if (!command.ok()) {
    Say("", command.status());
    return true;
  }
  if (command->name == "\\q") return false;
  if (command->name == "\\help") {
    std::fputs(kConsoleHelp, stdout);
  } else if (command->name == "\\d") {
    const InterruptWatch watch;
    if (const absl::Status described = Describe(command->argument); !described.ok()) {
      Say("", described);
    }
  } else {
    const absl::StatusOr<std::string> said = ChangeSetting(*command, &settings_);
    if (said.ok()) {
      std::puts(said->c_str());
    } else {
      Say("", said.status());
    }
  }
  return true;
}

absl::Status Console::Describe(std::string_view name) {
  if (!name.empty()) {
    RunStatement("DESCRIBE " + std::string(name));
    return absl::OkStatus();
  }
  if (client_ == nullptr) LS_RETURN_IF_ERROR(Connect());
  LS_ASSIGN_OR_RETURN(schema_, ReadSchemaNames(*client_));
  schema_ends_ = SteadyClock::now() + kSchemaAge;
  bool has_any = false;
  for (const auto& [keyspace, tables] : schema_.keyspaces) {
    // The server's own have names that nobody looks for here.
    if (!keyspace_.empty() ? keyspace != keyspace_ : keyspace.starts_with("system")) continue;
    for (const auto& [table, columns] : tables) {
      absl::PrintF("%s\n", PrintableLines(cql::QuoteIdentifier(keyspace) + '.' +
                                          cql::QuoteIdentifier(table)));
      has_any = true;
    }
  }
  if (!has_any) std::puts("no tables");
  return absl::OkStatus();
}

bool Console::RunStatement(const std::string& statement) {
  absl::Status status = absl::OkStatus();
  if (client_ == nullptr) status = Connect();
  if (status.ok()) status = PrintAnswer(statement);
  std::fflush(stdout);
  if (!status.ok()) Say(statement, status);
  return status.ok() && !InterruptWatch::interrupted();
}

absl::Status Console::PrintAnswer(const std::string& statement) {
  ResultPrinter printer(settings_.format, stdout);
  std::chrono::duration<double, std::milli> waited{0};
  std::string paging_state;
  while (true) {
    const SteadyClock::time_point begin = SteadyClock::now();
    LS_ASSIGN_OR_RETURN(const CqlRows page, client_->Query(statement, {},
                                                           {.page_size = settings_.page_rows,
                                                            .paging_state = paging_state}));
    waited += SteadyClock::now() - begin;
    LS_RETURN_IF_ERROR(PrintPage(statement, page, &printer));
    paging_state = page.paging_state();
    if (paging_state.empty()) {
      printer.Finish();
      break;
    }
    // Statements that were pasted together do not answer for a page.
    const bool is_typed_ahead = settings_.pages && PendingBytes() > 0;
    if (InterruptWatch::interrupted() || is_typed_ahead || (settings_.pages && !WantsMore())) {
      printer.FinishEarly();
      if (is_typed_ahead) std::puts("stopped behind the page: more was typed already");
      break;
    }
  }
  if (settings_.timing) absl::PrintF("%.3f ms\n", waited.count());
  return absl::OkStatus();
}

absl::Status Console::PrintPage(const std::string& statement, const CqlRows& page,
                                ResultPrinter* printer) {
  protocol::BodyReader reader(page.body());
  const int32_t kind = reader.ReadInt();
  if (kind == kSetKeyspace) keyspace_ = reader.ReadString();
  if (kind == kSchemaChange) schema_ends_ = {};
  if (settings_.format != ResultFormat::kTable || !IsDescribe(statement))
    return printer->Print(page);
  // Of DESCRIBE: the statements, which are of many lines, as they can be sent again.
  LS_ASSIGN_OR_RETURN(const std::vector<ResultColumn> columns, ReadResultColumns(page.body()));
  const auto at = std::ranges::find(columns, "create_statement", &ResultColumn::name);
  if (at == columns.end()) return printer->Print(page);
  const auto column = static_cast<size_t>(at - columns.begin());
  for (size_t row = 0; row < page.size(); ++row) {
    std::string text(page.at(row, column));
    text.erase(text.find_last_not_of('\n') + 1);
    text = PrintableLines(text);
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fputs(row + 1 < page.size() ? "\n\n" : "\n", stdout);
  }
  return absl::OkStatus();
}

bool Console::WantsMore() {
  std::fputs("-- more: Enter, or q to stop -- ", stdout);
  std::fflush(stdout);
  const std::optional<std::string> answer = AwaitTypedLine();
  if (!answer) {
    std::puts("");
    return false;
  }
  // Rows follow each other without it.
  if (MovesCursor()) std::fputs("\x1b[A\x1b[K", stdout);
  const std::string_view word = ToStd(absl::StripAsciiWhitespace(*answer));
  if (word.empty() || word == "y") return true;
  if (word != "q" && word != "n") editor_.Push(*answer + '\n');
  return false;
}

void Console::Say(const std::string& statement, const absl::Status& status) {
  // Made again for the next statement.
  if (client_ != nullptr && !client_->can_go_on()) client_.reset();
  const Style style(stderr);
  const std::string words = ServerWords(status);
  const std::string text = PrintableLines(words.empty() ? std::string(status.message()) : words);
  absl::FPrintF(stderr, "%s%s\n", ErrorPlace(statement, words), style.Bad(text));
}

Completion Console::CompleteLine(std::string_view before, std::string_view behind) {
  if (typed_.empty() && before.starts_with('\\')) {
    Completion completion;
    const size_t blank = before.find(' ');
    if (before.starts_with("\\d ")) {
      // As behind DESCRIBE, which it is.
      constexpr std::string_view kDescribe = "DESCRIBE";
      completion = Complete(std::string(kDescribe) + std::string(before.substr(2)), "", keyspace_,
                            [this]() -> const SchemaNames& { return Schema(); });
      completion.begin -= kDescribe.size() - 2;
      return completion;
    }
    const bool is_format = before.starts_with("\\format ");
    if (blank != std::string_view::npos && !is_format) return completion;
    if (is_format) {
      completion.begin = blank + 1;
      completion.words = kResultFormats;
    } else {
      completion.words.assign(kConsoleCommands.begin(), kConsoleCommands.end());
    }
    std::erase_if(completion.words, [&](const std::string& word) {
      return !word.starts_with(before.substr(completion.begin));
    });
    return completion;
  }
  // The lines before this one belong to the statement.
  const std::string earlier = typed_.empty() ? "" : typed_ + '\n';
  Completion completion = Complete(earlier + std::string(before), behind, keyspace_,
                                   [this]() -> const SchemaNames& { return Schema(); });
  completion.begin -= std::min(completion.begin, earlier.size());
  return completion;
}

const SchemaNames& Console::Schema() {
  if (SteadyClock::now() < schema_ends_ || client_ == nullptr) return schema_;
  client_->SetTimeout(kSchemaPatience);
  absl::StatusOr<SchemaNames> names = ReadSchemaNames(*client_);
  client_->SetTimeout();
  // Its answer may come yet, and would be taken for that of the next statement.
  if (!client_->can_go_on()) client_.reset();
  // One that refuses is not asked at each key either.
  schema_ends_ = SteadyClock::now() + kSchemaAge;
  schema_ = names.ok() ? *std::move(names) : SchemaNames();
  return schema_;
}

}  // namespace

bool IsAtTerminal() { return ::isatty(STDIN_FILENO) != 0 && ::isatty(STDOUT_FILENO) != 0; }

int RunConsole(const ConsoleOptions& options) {
  // The terminal's characters, which may be of several bytes each. A locale that this machine lacks is most likely of
  // UTF-8, which libc has inside.
  if (std::setlocale(LC_CTYPE, "") == nullptr) std::setlocale(LC_CTYPE, "C.UTF-8");
  DescribeUnknownTerminal();
  Console console(options);
  const absl::Status connected = console.Connect();
  if (!connected.ok()) return ReportFailure("console", connected);
  console.Run();
  return kExitSame;
}

}  // namespace liststore
