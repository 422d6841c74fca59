// RecordSource: where the records of one log come from, in order.
#ifndef LISTSTORE_ENGINE_COMMITLOG_RECORD_SOURCE_H_
#define LISTSTORE_ENGINE_COMMITLOG_RECORD_SOURCE_H_

#include "absl/status/statusor.h"
#include "engine/commitlog/log_reader.h"

namespace liststore::commitlog {

// Used by one thread at a time.
class RecordSource {
 public:
  virtual ~RecordSource() = default;
  // As LogReader::Next.
  virtual absl::StatusOr<bool> Next(LogRecord& record) = 0;
};

}  // namespace liststore::commitlog

#endif  // LISTSTORE_ENGINE_COMMITLOG_RECORD_SOURCE_H_
