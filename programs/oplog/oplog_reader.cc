#include "programs/oplog/oplog_reader.h"

#include <string_view>

#include "absl/strings/str_format.h"
#include "engine/base/status_macros.h"
#include "engine/base/strings.h"

namespace liststore {

absl::StatusOr<OplogReader> OplogReader::Open(const std::string& path) {
  LS_ASSIGN_OR_RETURN(LineReader lines, LineReader::Open(path));
  return OplogReader(std::move(lines));
}

absl::Status OplogReader::NextBatch(OperationBatch* batch) {
  batch->Clear();
  if (!pending_.ok()) return pending_;
  batch_bytes_ = 0;
  while (batch->operations_.size() < kBatchOperations && batch_bytes_ < kBatchBytes) {
    const absl::StatusOr<bool> appended = Append(batch);
    if (!appended.ok()) {
      pending_ = appended.status();
      return batch->operations_.empty() ? pending_ : absl::OkStatus();
    }
    if (!*appended) break;
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> OplogReader::Append(OperationBatch* batch) {
  std::string_view line;
  LS_ASSIGN_OR_RETURN(const bool found, lines_.Next(&line));
  if (!found) return false;
  Operation operation;
  const absl::Status parsed = json_.ParseOperation(line, &batch->memory_, &operation);
  if (!parsed.ok()) return lines_.Error(ToStd(parsed.message()));
  if (operation.at_nanos < last_at_nanos_) {
    return lines_.Error(
        absl::StrFormat("\"at\" goes back from %d to %d", last_at_nanos_, operation.at_nanos));
  }
  operation.line = lines_.line_number();
  last_at_nanos_ = operation.at_nanos;
  batch_bytes_ += line.size();
  batch->operations_.push_back(operation);
  return true;
}

}  // namespace liststore
