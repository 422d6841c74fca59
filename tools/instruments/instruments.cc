#include "tools/instruments/instruments.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "engine/base/status_macros.h"
#include "programs/console/exit_codes.h"
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

absl::Status Journal(const JournalOptions& options) {
  LS_ASSIGN_OR_RETURN(const auto client, ConnectTo(options.server));
  const ResultFormat format = ParseResultFormat(options.format);
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

absl::Status Reset(const ResetOptions& options) {
  LS_ASSIGN_OR_RETURN(const auto client, ConnectTo(options.server));
  if (options.to == "mark") {
    LS_ASSIGN_OR_RETURN(const CqlRows rows, client->Query(kShowBaseline));
    if (rows.size() != 1 || rows.is_null(0, 0)) {
      return absl::FailedPreconditionError(
          absl::StrCat(client->server(),
                       ": nothing is marked: 'liststore mark' does it, and 'liststore reset' "
                       "without --to takes everything away"));
    }
  }
  LS_RETURN_IF_ERROR(client->Query(DoWithData("reset")).status());
  return PrintAnswer(*client, kShowBaseline, {.format = ParseResultFormat(options.format)});
}

int ExitOf(const char* command, const absl::Status& status) {
  if (status.ok()) return kExitSame;
  std::fflush(stdout);
  absl::FPrintF(stderr, "liststore %s: %s\n", command, status.message());
  return kExitFailed;
}

}  // namespace

int RunJournal(const JournalOptions& options) { return ExitOf("journal", Journal(options)); }

int RunReset(const ResetOptions& options) { return ExitOf("reset", Reset(options)); }

}  // namespace liststore
