// The requests of `liststore bench wire`, by prepared statements of the list model: lists that are
// loaded, read and added to, and what their replies must be.
#ifndef LISTSTORE_BENCH_WIRE_WIRE_SOURCES_H_
#define LISTSTORE_BENCH_WIRE_WIRE_SOURCES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "bench/measure/growing_lists.h"
#include "bench/measure/workload.h"
#include "bench/wire/cql_load_target.h"
#include "programs/client/cql_client.h"

namespace liststore {

inline constexpr char kWireZeroBound[] = "0000000000000000000";
inline constexpr std::string_view kWireFeatureKey = "user#reading_history|v2";

std::string WireItemKey(const GrowingLists& lists, uint32_t list, uint32_t number,
                        std::string_view value);

// The newest rows of `list`, up to `limit`, value and item key: an error names the first that is
// another.
absl::Status CheckWireRows(const GrowingLists& lists, uint32_t list, const CqlRows& rows,
                           size_t limit);

// One list after the other, each by one batch. A batch that the server had no time for is sent
// again: loading asks for all that a server can do, and a slow one says so.
class LoadSource final : public WireSource {
 public:
  // Batches sent again, of all lists together: a server that takes none is not asked forever.
  static constexpr uint64_t kAgainMax = 10'000;

  LoadSource(const GrowingLists& lists, std::string_view insert);
  bool Next(size_t slot, int16_t stream, CqlRequests& requests) override;
  absl::Status OnReply(size_t slot, const CqlReply& reply) override;
  // Behind the end: batches wait to be sent again.
  bool waits() const { return !again_.empty(); }

 private:
  const GrowingLists& lists_;
  const std::string_view insert_;
  const std::string ttl_;
  uint64_t next_ = 0;
  std::vector<uint32_t> lists_sent_;  // by slot
  std::vector<uint32_t> again_;
  uint64_t sent_again_ = 0;
  std::vector<std::pair<std::string, std::string>> texts_;
  std::vector<std::array<std::string_view, 5>> values_;
  std::vector<CqlRequests::Execution> executions_;
};

// A frame of which only some bytes change from request to request.
class FrameTemplate {
 public:
  FrameTemplate(std::string_view statement_id, CqlRequests::Values values,
                const CqlParameters& parameters);
  // Where `placeholder`, one of the values, lies.
  size_t Find(std::string_view placeholder) const { return frame_.view().find(placeholder); }
  // Appends the frame; returns where it may be changed.
  char* AppendTo(CqlRequests& requests, int16_t stream) const;

 private:
  CqlRequests frame_;
};

// Reads of the newest rows of lists that `picker` draws. Every reply has the length that the first
// had, and some are read in full: values have one length, and so have keys. Nothing may be added to
// these lists meanwhile.
class SelectSource final : public WireSource {
 public:
  // Without `reads_replies` their lengths alone are looked at.
  SelectSource(const GrowingLists& lists, std::string_view select, size_t slots, ListPicker picker,
               bool reads_replies = true);
  bool Next(size_t slot, int16_t stream, CqlRequests& requests) override;
  absl::Status OnReply(size_t slot, const CqlReply& reply) override;
  uint64_t verified() const { return verified_; }
  // Of the body of each reply; 0: there was none yet.
  size_t body_bytes() const { return body_bytes_; }

 private:
  const GrowingLists& lists_;
  ListPicker picker_;
  const bool reads_replies_;
  std::vector<uint32_t> lists_asked_;  // by slot
  const std::string entity_id_;
  const std::string limit_;
  const std::string_view values_[4];
  const FrameTemplate frame_;
  const size_t entity_id_at_;
  size_t body_bytes_ = 0;
  uint64_t replies_ = 0;
  uint64_t verified_ = 0;
};

// A new item of a list that `picker` draws.
class InsertSource final : public WireSource {
 public:
  InsertSource(GrowingLists& lists, std::string_view insert, ListPicker picker);
  bool Next(size_t slot, int16_t stream, CqlRequests& requests) override;
  absl::Status OnReply(size_t slot, const CqlReply& reply) override;

 private:
  GrowingLists& lists_;
  ListPicker picker_;
  const std::string_view insert_;
  const std::string ttl_;
};

}  // namespace liststore

#endif  // LISTSTORE_BENCH_WIRE_WIRE_SOURCES_H_
