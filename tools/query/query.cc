#include "tools/query/query.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <iostream>
#include <iterator>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"
#include "engine/base/status_macros.h"
#include "programs/console/exit_codes.h"
#include "programs/console/failure.h"
#include "programs/console/terminal.h"
#include "programs/console/text.h"
#include "tools/query/split_statements.h"

namespace liststore {
namespace {

using SteadyClock = std::chrono::steady_clock;

double MillisecondsSince(SteadyClock::time_point begin) {
  return std::chrono::duration<double, std::milli>(SteadyClock::now() - begin).count();
}

}  // namespace

absl::StatusOr<PrintedPages> PrintPages(CqlClient& client, const std::string& statement,
                                        int32_t page_rows, ResultPrinter* printer) {
  WaitingLine waiting("waiting for the answer");
  const SteadyClock::time_point begin = SteadyClock::now();
  PrintedPages printed;
  std::string paging_state;
  do {
    LS_ASSIGN_OR_RETURN(
        const CqlRows page,
        client.Query(statement, {}, {.page_size = page_rows, .paging_state = paging_state}));
    if (++printed.pages == 1) printed.first_ms = MillisecondsSince(begin);
    absl::Status status;
    waiting.Say([&] {
      status = printer->Print(page);
      std::fflush(stdout);
    });
    LS_RETURN_IF_ERROR(status);
    paging_state = page.paging_state();
  } while (!paging_state.empty());
  printed.all_ms = MillisecondsSince(begin);
  return printed;
}

absl::Status PrintAnswer(CqlClient& client, const std::string& statement,
                         const AnswerOptions& options) {
  ResultPrinter printer(options.format, stdout);
  LS_ASSIGN_OR_RETURN(const PrintedPages printed,
                      PrintPages(client, statement, options.page_rows, &printer));
  printer.Finish();
  if (!options.timing) return absl::OkStatus();
  absl::FPrintF(stderr, "%.3f ms", printed.all_ms);
  if (printed.pages > 1) {
    absl::FPrintF(stderr, ", the first of %d pages %.3f ms", printed.pages, printed.first_ms);
  }
  absl::FPrintF(stderr, "\n");
  return absl::OkStatus();
}

int RunStatements(const std::string& command, const ServerConnection& server,
                  const std::vector<std::string>& statements, const AnswerOptions& options) {
  const absl::StatusOr<std::unique_ptr<CqlClient>> client = ConnectTo(server);
  if (!client.ok()) return ReportFailure(command, client.status());
  for (const std::string& statement : statements) {
    const absl::Status status = PrintAnswer(**client, statement, options);
    for (const std::string& warning : (*client)->TakeWarnings()) {
      absl::FPrintF(stderr, "liststore %s: warning: %s\n", command, Printable(warning, 2'000));
    }
    if (!status.ok()) return ReportFailure(command, status);
  }
  return kExitSame;
}

int RunQuery(const std::string& command, const QueryOptions& options) {
  std::string text = options.text;
  if (text.empty()) {
    if (::isatty(STDIN_FILENO) != 0) {
      return ReportFailure(command, absl::InvalidArgumentError(
                                        "a statement is wanted: liststore query \"SELECT ...\", or "
                                        "several from a file: liststore query < FILE"));
    }
    text.assign(std::istreambuf_iterator<char>(std::cin), {});
  }
  const std::vector<std::string> statements = SplitStatements(text);
  if (statements.empty()) {
    return ReportFailure(command, absl::InvalidArgumentError("the text has no statement in it"));
  }
  return RunStatements(command, options.server, statements,
                       {.format = ParseResultFormat(options.format),
                        .page_rows = static_cast<int32_t>(options.page_rows),
                        .timing = options.timing});
}

}  // namespace liststore
