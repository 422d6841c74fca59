// ExecuteGroup: EXECUTEs of the hot shapes that came together, run together: their partitions are
// looked up at once, so that the cache misses overlap, and rows go from the partition straight into
// the connection's output.
#ifndef LISTSTORE_ENGINE_EXECUTE_EXECUTE_GROUP_H_
#define LISTSTORE_ENGINE_EXECUTE_EXECUTE_GROUP_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "engine/command/command.h"
#include "engine/cql/plan/bound_values.h"
#include "engine/cql/plan/instantiate.h"
#include "engine/execute/item_insert.h"
#include "engine/execute/item_read.h"
#include "engine/execute/prepared_statement.h"
#include "engine/execute/request_handler.h"
#include "engine/execute/write/write_set.h"
#include "engine/protocol/request.h"
#include "engine/protocol/response.h"
#include "engine/shard/engine.h"

namespace liststore::execute {

// True for plans that a group runs: reads of one range of one partition of a table whose rows are
// list items in shape, without filters and sums; INSERT, UPDATE and DELETE of one partition
// without conditions; none of counters, or with functions.
bool IsGroupable(const cql::Plan& plan);
// To columns of several cells.
bool WritesElements(const cql::ModificationPlan* plan);

// Keeps its memory. One thread.
class ExecuteGroup {
 public:
  static constexpr size_t kSizeMax = 16;
  // Of the rows of one run.
  static constexpr size_t kAnswerBytesMax = size_t{4} << 20;

  ExecuteGroup();
  ~ExecuteGroup();
  ExecuteGroup(const ExecuteGroup&) = delete;
  ExecuteGroup& operator=(const ExecuteGroup&) = delete;

  bool full() const { return size_ == kSizeMax; }
  bool empty() const { return size_ == 0; }

  // Takes requests of groupable plans, bound and checked; what they refer to stays until Run.
  //
  // A write of one command, which is that of writes().
  void AddWrite(RequestView& request, const protocol::ResponseContext& context,
                const Command& command);
  // For the next request to write to; nobody else's until it has run.
  WriteSet& writes();
  // A read. False, and nothing was added: not of a hot shape with these values, or an error, which it
  // meets alone again.
  bool AddRead(RequestView& request, const protocol::ResponseContext& context,
               const cql::SelectPlan& plan, cql::BoundValues values);
  // A read, by the request's values as they are. False, and nothing was added: by AddRead then.
  bool AddItemRead(RequestView& request, const ClientState& client, const cql::SelectPlan& plan,
                   const ItemRead& read);

  // The same of a write, under `timestamp`; false: by AddWrite.
  bool AddItemInsert(RequestView& request, const ClientState& client, TableId table,
                     const ItemInsert& insert, int64_t now_seconds, WriteTimestamp timestamp);

  // Runs everything, writes the answers, and is empty again. Requests are run in the order of
  // adding where they are about the same partition. True: one of them has written.
  bool Run(shard::Engine& engine, uint64_t now_nanos, OutputBuffer& out);
  // What was added and has not run is not run: an exception has ended its turn.
  void Abandon() {
    if (size_ != 0) [[unlikely]]
      AbandonAll();
  }
  // Of the last run, those whose rows were more than fit into an answer, or with what the others
  // had into kAnswerBytesMax: they have none, and are run alone.
  std::span<RequestView* const> too_large() const { return too_large_; }

 private:
  struct Slot;

  // Reads of more rows than this are run alone, in steps.
  static constexpr uint64_t kRowsMax = 1024;

  void AbandonAll();
  // The next read, whose key, range and limit are there.
  void Add(Slot& slot, const cql::SelectPlan& plan);
  Slot& Begin(RequestView& request, const protocol::ResponseContext& context);
  // The next command, nothing but these: the caller gives it a body. A whole command that is put
  // there would be ten times as much.
  Command& Append(TableId table, std::string_view partition_key, WriteTimestamp timestamp);
  // Ends the frame that rows went to last.
  void CloseFrame();

  std::vector<std::unique_ptr<Slot>> slots_;
  size_t size_ = 0;
  std::array<Command, kSizeMax> commands_;  // the first of them are the group's
  std::array<Reply, kSizeMax> replies_;
  std::vector<RequestView*> too_large_;
  // While it runs.
  OutputBuffer* out_ = nullptr;
  size_t out_end_max_ = 0;  // of `out_`, where an answer may end
  Slot* open_ = nullptr;
};

}  // namespace liststore::execute

#endif  // LISTSTORE_ENGINE_EXECUTE_EXECUTE_GROUP_H_
