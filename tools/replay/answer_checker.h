// Compares a replay's answers with those of a file, one by one as they come.
#ifndef LISTSTORE_TOOLS_REPLAY_ANSWER_CHECKER_H_
#define LISTSTORE_TOOLS_REPLAY_ANSWER_CHECKER_H_

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "programs/oplog/line_reader.h"
#include "programs/oplog/operation.h"
#include "programs/oplog/oplog_json.h"
#include "programs/oplog/replay_totals.h"
#include "tools/replay/read_items.h"

namespace liststore {

// The file holds a line for each `get` of the log, in order, and the totals behind them. One
// thread; one line is held at a time.
//
// Statuses: a difference, see exit_codes.h, names the line of the log and the line that expected
// something else; InvalidArgument, the file is malformed.
class AnswerChecker {
 public:
  // `log_path` is for messages.
  static absl::StatusOr<AnswerChecker> Open(const std::string& path, std::string log_path);

  // `answer` is what `get` brought, `items` its items, for the message.
  absl::Status CheckRead(const Operation& get, const ReadAnswer& answer, const ReadItems& items);
  // To be called at the end of the log.
  absl::Status CheckTotals(const ReplayTotals& totals);

  uint64_t reads_checked() const { return reads_checked_; }

 private:
  AnswerChecker(LineReader lines, std::string log_path)
      : lines_(std::move(lines)), log_path_(std::move(log_path)) {}

  LineReader lines_;
  OplogJson json_;
  std::string log_path_;
  uint64_t reads_checked_ = 0;
};

}  // namespace liststore

#endif  // LISTSTORE_TOOLS_REPLAY_ANSWER_CHECKER_H_
