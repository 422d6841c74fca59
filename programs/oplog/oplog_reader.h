// Reads an operation log in batches, so that parsing stays out of what is measured.
#ifndef LISTSTORE_PROGRAMS_OPLOG_OPLOG_READER_H_
#define LISTSTORE_PROGRAMS_OPLOG_OPLOG_READER_H_

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "programs/oplog/line_reader.h"
#include "programs/oplog/operation.h"
#include "programs/oplog/oplog_json.h"

namespace liststore {

// Operations in the order of the log, and the bytes that they point into.
class OperationBatch {
 public:
  OperationBatch() = default;
  OperationBatch(const OperationBatch&) = delete;
  OperationBatch& operator=(const OperationBatch&) = delete;

  const std::vector<Operation>& operations() const { return operations_; }

 private:
  friend class OplogReader;
  void Clear() {
    operations_.clear();
    memory_.release();
  }
  std::pmr::monotonic_buffer_resource memory_{64 * 1024};
  std::vector<Operation> operations_;
};

// One thread. Holds one line; a batch holds up to kBatchOperations of them or about kBatchBytes.
class OplogReader {
 public:
  static constexpr size_t kBatchOperations = 4096;
  static constexpr size_t kBatchBytes = size_t{4} << 20;

  static absl::StatusOr<OplogReader> Open(const std::string& path);

  // Replaces the contents of `batch` by the next operations; an empty batch is the end of the log.
  // InvalidArgument: "FILE:LINE: reason". Everything before a malformed line is handed out first.
  absl::Status NextBatch(OperationBatch* batch);

  const LineReader& lines() const { return lines_; }

 private:
  explicit OplogReader(LineReader lines) : lines_(std::move(lines)) {}
  // Appends the operation of the next line; false at the end.
  absl::StatusOr<bool> Append(OperationBatch* batch);

  LineReader lines_;
  OplogJson json_;
  uint64_t last_at_nanos_ = 0;
  size_t batch_bytes_ = 0;
  // Found behind the batch just handed out; reported by the next call.
  absl::Status pending_;
};

}  // namespace liststore

#endif  // LISTSTORE_PROGRAMS_OPLOG_OPLOG_READER_H_
