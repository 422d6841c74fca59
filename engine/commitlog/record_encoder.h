// What was decided, as records: plain bytes appended to a string of the caller's, whose capacity is used
// again. Functions without state; any thread. They throw std::bad_alloc where the string cannot grow.
#ifndef LISTSTORE_ENGINE_COMMITLOG_RECORD_ENCODER_H_
#define LISTSTORE_ENGINE_COMMITLOG_RECORD_ENCODER_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engine/command/command.h"
#include "engine/model/mutation.h"
#include "engine/model/table_schema.h"

namespace liststore::commitlog {

// How long what is over keeps its effect in the part of the table that is written to, before the write:
// nothing was seen there but timestamps of the lane, or since when others were (GracePolicy).
struct RecordedGrace {
  bool has_seen_foreign = false;
  int64_t start_seconds = 0;  // where it has

  bool operator==(const RecordedGrace&) const = default;
};

// Appends a write: an upsert, a deletion of rows, a range or a partition, a put or a forgetting. A deletion
// by value is written as one of the rows that it found; reads are no writes. O(bytes).
void AppendWrite(TableId table, std::string_view partition_key, const CommandBody& body,
                 const WriteContext& write, const RecordedGrace& grace, std::string& out);

// One row of the shape that nearly all writes of lists have. Its record is what AppendWrite appends,
// and its length is known before: it is encoded where it is to be, without a copy. `rows`: one of which
// IsHotItem says so.
bool IsHotItem(std::span<const RowUpdate> rows);
size_t HotItemRecordBytes(std::string_view partition_key, std::span<const RowUpdate> rows,
                          const RecordedGrace& grace);
void EncodeHotItem(TableId table, std::string_view partition_key, std::span<const RowUpdate> rows,
                   const WriteContext& write, const RecordedGrace& grace, char* to);

// Begins the part of a batch that goes into one log; then come BeginBatchWrite, the write, and
// EndBatchWrite, for each; then EndBatchPart, with the number of logs that have a part.
void BeginBatchPart(uint64_t batch, std::string& out);
size_t BeginBatchWrite(std::string& out);
void EndBatchWrite(size_t begun, std::string& out);
void EndBatchPart(uint32_t logs, std::string& out);
// Of a part: its writes so far, and the first of them, as a record of its own.
uint32_t WritesOfPart(std::string_view part);
std::string_view FirstWriteOfPart(std::string_view part);

// Steps, which every log has, in one order: `step` ascends. `component`: of the first key component alone.
void AppendTruncation(uint64_t step, TableId table, std::optional<std::string_view> component,
                      std::string& out);
void AppendBarrier(uint64_t step, std::string_view payload, std::string& out);

}  // namespace liststore::commitlog

#endif  // LISTSTORE_ENGINE_COMMITLOG_RECORD_ENCODER_H_
