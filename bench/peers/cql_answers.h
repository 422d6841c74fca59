// Answers to what `liststore bench wire` asks, by as little as can give them: two limits that are measured
// beside our server, over the same sockets and with frames of the same sizes.
//
//   EchoAnswers   the frames are cut and told apart; a SELECT gets ten rows that were written beforehand
//   BareAnswers   values are taken out of the frame, the list is looked up in the bare reference, and its
//                 rows are written: right answers, without TTL, timestamps, lock, plan or limit
//
// Both know the statements of the list model alone; what else is asked gets an ERROR. Frames that come once
// (STARTUP, PREPARE, the schema) and the batches that load lists go through our own protocol layer.
#ifndef LISTSTORE_BENCH_PEERS_CQL_ANSWERS_H_
#define LISTSTORE_BENCH_PEERS_CQL_ANSWERS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "bench/peers/bare_store.h"
#include "bench/peers/frame_loop.h"
#include "engine/protocol/request.h"
#include "engine/protocol/response.h"

namespace liststore {

// Cuts frames and answers all but EXECUTE. One thread.
class CqlAnswers : public FrameAnswers {
 public:
  CqlAnswers();
  std::optional<size_t> Answer(std::string_view received, OutputBuffer& out) final;

 protected:
  // So many frames are looked at before the first of them is answered.
  static constexpr size_t kAhead = 16;

  struct RequestFrame {
    int16_t stream = 0;
    uint8_t opcode = 0;
    std::string_view body;
  };

  // As many as are answered next, at most kAhead.
  virtual void LookAhead(std::span<const RequestFrame> frames) = 0;
  // Answers the EXECUTE that is number `index` of them. False: it is none that could be answered.
  virtual bool Execute(size_t index, const RequestFrame& frame, OutputBuffer& out) = 0;
  // An INSERT of a batch: its five values. False: it cannot be taken.
  virtual bool Insert(std::span<const protocol::Value> values) = 0;

  // Identifiers are as long as ours, so that frames are.
  static constexpr size_t kIdBytes = 16;
  static constexpr std::string_view kSelectId = "select-ten-items";
  static constexpr std::string_view kInsertId = "insert-one-item.";
  static_assert(kSelectId.size() == kIdBytes && kInsertId.size() == kIdBytes);

  // Columns of the SELECT: the value and the item key.
  const protocol::ColumnsMetadata& columns() const { return select_columns_; }

 private:
  void AnswerRare(const RequestFrame& frame, OutputBuffer& out);
  void AnswerQuery(const protocol::ResponseContext& context, std::string_view text,
                   OutputBuffer& out);
  void AnswerPrepare(const protocol::ResponseContext& context, std::string_view text,
                     OutputBuffer& out);
  void AnswerBatch(const protocol::ResponseContext& context, const protocol::Batch& batch,
                   OutputBuffer& out);

  protocol::RequestScratch scratch_;
  protocol::ColumnsMetadata insert_markers_;
  protocol::ColumnsMetadata select_markers_;
  protocol::ColumnsMetadata select_columns_;
  protocol::ColumnsMetadata item_key_column_;
};

class EchoAnswers final : public CqlAnswers {
 public:
  // Values of the canned rows have `value_bytes`.
  explicit EchoAnswers(size_t value_bytes);

 private:
  void LookAhead(std::span<const RequestFrame> /*frames*/) override {}
  bool Execute(size_t index, const RequestFrame& frame, OutputBuffer& out) override;
  bool Insert(std::span<const protocol::Value> /*values*/) override { return true; }

  OutputBuffer canned_;  // the frame; its stream is to be written over
};

class BareAnswers final : public CqlAnswers {
 public:
  // For `lists` lists of `items` items or a few more; all values have `value_bytes`.
  BareAnswers(size_t lists, size_t items, size_t value_bytes);

  const BareStore& store() const { return store_; }

 private:
  // Of an EXECUTE what answers it; views into its frame.
  struct Execution {
    bool is_readable = false;
    bool is_insert = false;
    uint64_t hash = 0;          // of the list's key
    std::string_view item_key;  // of a SELECT the bound
    std::string_view last;      // INSERT: the value; SELECT: the limit
  };

  static Execution Read(std::string_view body);
  void LookAhead(std::span<const RequestFrame> frames) override;
  bool Execute(size_t index, const RequestFrame& frame, OutputBuffer& out) override;
  bool Insert(std::span<const protocol::Value> values) override;
  bool InsertItem(uint64_t hash, std::string_view item_key, std::string_view value);
  bool Select(const Execution& execution, int16_t stream, OutputBuffer& out) const;

  const size_t value_bytes_;
  BareStore store_;
  OutputBuffer rows_head_;  // a frame of no rows: what every answer with rows begins with
  std::array<Execution, kAhead> executions_;
};

}  // namespace liststore

#endif  // LISTSTORE_BENCH_PEERS_CQL_ANSWERS_H_
