// What the lines of an operation log and of its expected answers mean. The only place that knows
// them as JSON.
#ifndef LISTSTORE_PROGRAMS_OPLOG_OPLOG_JSON_H_
#define LISTSTORE_PROGRAMS_OPLOG_OPLOG_JSON_H_

#include <memory>
#include <memory_resource>
#include <string_view>
#include <variant>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "programs/oplog/operation.h"
#include "programs/oplog/replay_totals.h"

namespace liststore {

// Parses one line at a time, with memory of its own that is used again for the next. One thread.
//
// A line is a JSON object in valid UTF-8. Fields that are not known are ignored; a known one of the
// wrong type, or a number outside its range, is InvalidArgument, and the message names the field.
class OplogJson {
 public:
  OplogJson();
  ~OplogJson();
  OplogJson(OplogJson&&) noexcept;
  OplogJson& operator=(OplogJson&&) noexcept;

  // Fills `*operation` but for `line`; its strings and items are copied into `memory`.
  absl::Status ParseOperation(std::string_view line, std::pmr::memory_resource* memory,
                              Operation* operation);
  // A line of expected answers: one read, or the totals.
  absl::StatusOr<std::variant<ReadAnswer, ReplayTotals>> ParseAnswer(std::string_view line);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace liststore

#endif  // LISTSTORE_PROGRAMS_OPLOG_OPLOG_JSON_H_
