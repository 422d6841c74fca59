// JournalRecord: one request of a client and what came of it, as the journal keeps it: bytes that
// were copied and pointers to what exists anyway. What costs (the types of values, the text of a
// key) waits until somebody reads.
#ifndef LISTSTORE_ENGINE_INSTRUMENTS_JOURNAL_RECORD_H_
#define LISTSTORE_ENGINE_INSTRUMENTS_JOURNAL_RECORD_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "engine/cql/plan/bound_values.h"
#include "engine/cql/planner/planned_statement.h"
#include "engine/execute/request_view.h"

namespace liststore::instruments {

// What is kept of a record at most: a journal of 10,000 holds 100 MB when every request is as long
// as this, and some 2 MB of requests with a few short values.
inline constexpr size_t kRecordedTextBytesMax = 4096;   // of a statement's text
inline constexpr size_t kRecordedValueBytesMax = 1024;  // of a value
inline constexpr size_t kRecordedBytesMax = 8192;       // of all texts, values and the error
inline constexpr size_t kRecordedStatementsMax = 128;   // of a batch

// Who sent a request. Made once for a connection, and again when it chooses another keyspace.
struct JournalClient {
  std::string address;  // "127.0.0.1:54321"
  std::string driver;   // empty: not said
  std::string user;
  std::string keyspace;  // chosen by USE; empty: none
};

// What requests that come together mostly have alike: it is written down where it changes.
struct SharedFacts {
  uint64_t at_nanos = 0;        // when it had arrived, since the Unix epoch
  uint64_t duration_nanos = 0;  // by the machine, whatever the clock
  uint64_t dead_rows = 0;       // that its reads passed over
  const JournalClient* client = nullptr;
  // Names; they live forever. Empty: none.
  const char* consistency = "";
  const char* serial_consistency = "";
  const char* outcome = "";
  std::optional<int32_t> page_size;
  execute::RequestKind kind = execute::RequestKind::kQuery;

  // Names by their place: the same name at two places is room lost and no more.
  bool operator==(const SharedFacts&) const = default;
};

// What is told of every request, in a form that is kept by copying its bytes.
struct JournalFacts : SharedFacts {
  std::optional<int64_t> timestamp;  // the client's, microseconds
};
static_assert(std::is_trivially_copyable_v<JournalFacts>);

// A value as it was sent.
struct RecordedValue {
  cql::BoundValue value;  // the beginning of it when `is_cut`
  std::string_view name;  // of a marker; empty: by its place
  bool is_cut = false;    // more bytes were sent than are kept
};

// A statement of a record.
struct RecordedStatement {
  const cql::PlannedStatement* prepared = nullptr;  // nullptr: sent as text, or not known any more
  std::string_view text;                            // empty: not known
  bool is_text_cut = false;
  std::vector<RecordedValue> values;
};

// A record that is read. Views and pointers into the block that it lies in (journal_block.h),
// which outlives it.
class JournalRecord : public JournalFacts {
 public:
  uint64_t seq() const { return seq_; }
  size_t statement_count() const { return statement_count_; }
  // More than kRecordedStatementsMax were sent.
  bool leaves_out_statements() const { return leaves_out_statements_; }
  // O(statements and values).
  std::vector<RecordedStatement> Statements() const;
  std::string_view error() const { return error_; }

 private:
  friend class JournalBlockReader;

  uint64_t seq_ = 0;
  std::string_view parts_;  // statements, one after the other
  // What stands in front of the statement in the record that this one repeats; then `parts_` is its
  // values alone.
  std::string_view repeated_part_;
  std::string_view error_;
  uint16_t statement_count_ = 0;
  bool leaves_out_statements_ = false;
};

}  // namespace liststore::instruments

#endif  // LISTSTORE_ENGINE_INSTRUMENTS_JOURNAL_RECORD_H_
