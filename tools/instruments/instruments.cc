#include "tools/instruments/instruments.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "engine/base/status_macros.h"
#include "programs/console/exit_codes.h"
#include "programs/console/failure.h"
#include "programs/console/text.h"
#include "tools/instruments/statements.h"
#include "tools/query/query.h"
#include "tools/query/result_printer.h"

namespace liststore {
namespace {

constexpr std::chrono::milliseconds kFollowPeriod{500};
// What people look at first; programs get all.
constexpr char kShownColumns[] = "seq, at, op, tbl, key, outcome, duration_us, statement";
constexpr int32_t kPageRows = 1000;

// The number of the newest request; 0: there is none.
absl::StatusOr<int64_t> NewestRequest(CqlClient& client) {
  LS_ASSIGN_OR_RETURN(const CqlRows rows, client.Query(kNewestRequest));
  return rows.size() == 0 ? 0 : rows.Integer(0, 0);
}

absl::Status Journal(const InstrumentOptions& instrument, const JournalOptions& options) {
  LS_ASSIGN_OR_RETURN(const auto client, ConnectTo(instrument.server));
  const ResultFormat format = ParseResultFormat(instrument.format);
  const char* const columns = format == ResultFormat::kTable ? kShownColumns : "*";
  ResultPrinter printer(format, stdout);
  LS_ASSIGN_OR_RETURN(int64_t newest, NewestRequest(*client));
  // They are numbered without gaps.
  int64_t printed = std::max<int64_t>(newest - options.last, 0);
  while (true) {
    // Those up to `newest`, so that the next round begins where this one ends.
    LS_RETURN_IF_ERROR(
        PrintPages(*client, absl::StrCat(RequestsAfter(printed, columns), " AND seq <= ", newest),
                   kPageRows, &printer)
            .status());
    printed = std::max(printed, newest);
    if (!options.follow) break;
    std::this_thread::sleep_for(kFollowPeriod);
    LS_ASSIGN_OR_RETURN(newest, NewestRequest(*client));
    if (newest < printed) newest = printed;  // emptied, and nothing since
  }
  printer.Finish();
  return absl::OkStatus();
}

// What a reset takes away that goes back to no mark.
std::string Everything(const CqlRows& there) {
  const auto count = [&](size_t column) { return static_cast<uint64_t>(there.Integer(0, column)); };
  return absl::StrCat("everything: ", Counted(count(1), "keyspace"), ", ",
                      Counted(count(2), "table"), ", ", Counted(count(3), "row"), " (",
                      Bytes(count(4)), "), roles and faults");
}

// OK: somebody at the terminal has said so.
absl::Status AskForEverything(const std::string& server, const CqlRows& there) {
  if (::isatty(STDIN_FILENO) == 0) {
    return absl::FailedPreconditionError(absl::StrCat(
        server, ": nothing is marked, and a reset would take away ", Everything(there),
        "; 'liststore reset --everything' does that, 'liststore mark' marks what to go back to"));
  }
  absl::FPrintF(stderr, "%s: nothing is marked. This takes away %s.\nGo on? [y/N] ", server,
                Everything(there));
  std::string answer;
  std::getline(std::cin, answer);
  if (answer == "y" || answer == "Y" || answer == "yes") return absl::OkStatus();
  return absl::CancelledError("nothing was done");
}

absl::Status Reset(const InstrumentOptions& instrument, const ResetOptions& options) {
  LS_ASSIGN_OR_RETURN(const auto client, ConnectTo(instrument.server));
  LS_ASSIGN_OR_RETURN(const CqlRows there, client->Query(kShowBaseline));
  const bool is_marked = there.size() == 1 && !there.is_null(0, 0);
  if (options.to == "mark" && !is_marked) {
    return absl::FailedPreconditionError(absl::StrCat(
        client->server(),
        ": nothing is marked: 'liststore mark' does it, and 'liststore reset --everything' takes "
        "everything away"));
  }
  if (!is_marked && !options.everything) {
    LS_RETURN_IF_ERROR(AskForEverything(client->server(), there));
  }
  if (is_marked && options.everything) {
    LS_RETURN_IF_ERROR(client->Query(DoWithData("forget")).status());
  }
  LS_RETURN_IF_ERROR(client->Query(DoWithData("reset")).status());
  return PrintAnswer(*client, kShowBaseline, {.format = ParseResultFormat(instrument.format)});
}

int ExitOf(const char* command, const absl::Status& status) {
  return status.ok() ? kExitSame : ReportFailure(command, status);
}

}  // namespace

int RunInstrument(const std::string& command, const InstrumentOptions& options,
                  const std::vector<std::string>& statements) {
  return RunStatements(command, options.server, statements,
                       {.format = ParseResultFormat(options.format)});
}

int RunJournal(const InstrumentOptions& instrument, const JournalOptions& options) {
  return ExitOf("journal", Journal(instrument, options));
}

int RunReset(const InstrumentOptions& instrument, const ResetOptions& options) {
  return ExitOf("reset", Reset(instrument, options));
}

}  // namespace liststore
