#include "tools/replay/replay.h"

#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"
#include "engine/base/status_macros.h"
#include "engine/base/strings.h"
#include "programs/console/exit_codes.h"
#include "programs/console/terminal.h"
#include "programs/oplog/oplog_reader.h"
#include "tools/replay/answer_checker.h"
#include "tools/replay/list_table.h"
#include "tools/replay/replay_report.h"
#include "tools/replay/replay_session.h"

namespace liststore {
namespace {

// The faults of operations get their place in the log here; those of files have theirs.
absl::Status ExecuteBatch(const OperationBatch& batch, const OplogReader& log,
                          ReplaySession* session, AnswerChecker* checker) {
  for (const Operation& operation : batch.operations()) {
    const absl::Status status = session->Execute(operation);
    if (!status.ok()) return log.lines().ErrorAt(operation.line, ToStd(status.message()));
    if (checker == nullptr || operation.kind != OperationKind::kGet) continue;
    LS_RETURN_IF_ERROR(checker->CheckRead(operation, session->answer(), session->items()));
  }
  return absl::OkStatus();
}

// One pass over the log. `report` gets the figures of this round, and its times on top of those of
// earlier ones. Returns the session, for what is to be shown of it.
absl::StatusOr<std::unique_ptr<ReplaySession>> ReplayOnce(const ReplayOptions& options,
                                                          ReplayReport* report) {
  LS_ASSIGN_OR_RETURN(OplogReader log, OplogReader::Open(options.log_path));
  std::optional<AnswerChecker> checker;
  if (!options.expected_path.empty()) {
    LS_ASSIGN_OR_RETURN(checker, AnswerChecker::Open(options.expected_path, log.lines().path()));
  }
  OperationBatch batch;
  LS_RETURN_IF_ERROR(log.NextBatch(&batch));
  report->first_at_nanos = batch.operations().empty() ? 0 : batch.operations().front().at_nanos;
  LS_ASSIGN_OR_RETURN(std::unique_ptr<ReplaySession> session,
                      ReplaySession::Open({.shards = options.shards,
                                           .memory_limit_bytes = options.memory_limit_bytes,
                                           .via = options.via,
                                           .tls = options.tls},
                                          report->first_at_nanos, &report->times));

  ProgressBar progress;
  while (!batch.operations().empty()) {
    LS_RETURN_IF_ERROR(
        ExecuteBatch(batch, log, session.get(), checker.has_value() ? &*checker : nullptr));
    progress.Update(log.lines().progress(), session->executed());
    LS_RETURN_IF_ERROR(log.NextBatch(&batch));
  }
  LS_RETURN_IF_ERROR(session->Finish());
  if (checker.has_value()) LS_RETURN_IF_ERROR(checker->CheckTotals(session->totals()));

  report->log_path = log.lines().path();
  report->operations = session->executed();
  report->last_at_nanos = session->target().now_nanos();
  report->shards = session->target().shards();
  report->server = session->target().server();
  report->compared = checker.has_value();
  report->totals = session->totals();
  report->expired = session->expired();
  report->memory = session->memory();
  return session;
}

absl::Status ShowLists(const ReplayOptions& options, const ReplaySession& session, std::FILE* out) {
  const ListStore* const store = session.target().store();
  if (store == nullptr) return absl::OkStatus();
  const uint64_t now_nanos = session.target().now_nanos();
  if (!options.show_entity.empty()) {
    return PrintListsOfEntity(*store, options.show_entity, now_nanos, options.show_rows, out);
  }
  const ListId busiest = session.busiest_list();
  if (busiest.feature.empty()) return absl::OkStatus();  // nothing lives
  return PrintList(*store, busiest, now_nanos, options.show_rows, out);
}

absl::Status Replay(const ReplayOptions& options) {
  if (options.rounds > 1 && options.log_path == "-") {
    return absl::InvalidArgumentError("standard input can be replayed only once");
  }
  const auto start = std::chrono::steady_clock::now();
  const auto report = std::make_unique<ReplayReport>();  // its histograms are large for a stack
  report->rounds = options.rounds;
  std::unique_ptr<ReplaySession> session;
  for (uint64_t round = 0; round < options.rounds; ++round) {
    session.reset();  // one store at a time
    LS_ASSIGN_OR_RETURN(session, ReplayOnce(options, report.get()));
  }
  report->elapsed_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (options.json) {
    PrintReportJson(*report, stdout);
    // Standard output stays one line of JSON.
    return options.show_entity.empty() ? absl::OkStatus() : ShowLists(options, *session, stderr);
  }
  PrintReport(*report, stdout);
  std::fputc('\n', stdout);
  return ShowLists(options, *session, stdout);
}

}  // namespace

int RunReplay(const ReplayOptions& options) {
  const absl::Status status = Replay(options);
  if (!status.ok()) absl::FPrintF(stderr, "%s\n", ToStd(status.message()));
  return ExitStatus(status);
}

}  // namespace liststore
