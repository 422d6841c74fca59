// BatchRecords: what a batch writes down, a part for each log that one of its lanes writes to.
#ifndef LISTSTORE_ENGINE_SHARD_BATCH_RECORDS_H_
#define LISTSTORE_ENGINE_SHARD_BATCH_RECORDS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/container/inlined_vector.h"
#include "engine/command/command.h"
#include "engine/commitlog/record_encoder.h"
#include "engine/commitlog/write_log.h"
#include "engine/model/mutation.h"
#include "engine/storage/table.h"

namespace liststore::shard {

inline commitlog::RecordedGrace RecordedGraceOf(const storage::Table& table) {
  if (!table.has_seen_foreign()) return {};
  return {true, table.grace_start_seconds()};
}

// Under the hold of all lanes concerned, from the first Add to Append: Add in the order in which the
// writes will be applied, then Reserve, then they are applied, then Append. Room that was set aside and
// not used goes back in the end.
class BatchRecords {
 public:
  // `batch`: no other has this number.
  explicit BatchRecords(uint64_t batch) : batch_(batch) {}
  ~BatchRecords();
  BatchRecords(const BatchRecords&) = delete;
  BatchRecords& operator=(const BatchRecords&) = delete;

  void Add(commitlog::WriteLog& log, const storage::Table& table, TableId id,
           std::string_view partition_key, const CommandBody& body, const WriteContext& write);
  // False: a log refuses.
  bool Reserve();
  void Append();

 private:
  struct Part {
    commitlog::WriteLog* log = nullptr;
    std::string record;
    size_t reserved = 0;
  };

  const uint64_t batch_;
  absl::InlinedVector<Part, 2> parts_;
  // Tables that have seen such a timestamp by then, by what was added.
  absl::InlinedVector<const storage::Table*, 8> foreign_;
};

}  // namespace liststore::shard

#endif  // LISTSTORE_ENGINE_SHARD_BATCH_RECORDS_H_
