// JournalRecord: one request of a client and what came of it, as the journal keeps it: bytes that
// were copied and pointers to what exists anyway. What costs (the types of values, the text of a
// key) waits until somebody reads.
#ifndef LISTSTORE_ENGINE_CONTROL_JOURNAL_RECORD_H_
#define LISTSTORE_ENGINE_CONTROL_JOURNAL_RECORD_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/cql/bound_values.h"
#include "engine/cql/planned_statement.h"

namespace liststore {

// What is kept of a record at most: a journal of 10,000 holds 80 MB when every request is as long
// as this, and some 4 MB of requests with a few short values.
inline constexpr size_t kRecordedTextBytesMax = 4096;   // of a statement's text
inline constexpr size_t kRecordedValueBytesMax = 1024;  // of a value
inline constexpr size_t kRecordedBytesMax = 8192;       // of all texts, values and the error
inline constexpr size_t kRecordedStatementsMax = 128;   // of a batch

// Who sent a request. Made once for a connection, and anew when it chooses another keyspace.
struct JournalClient {
  std::string address;  // "127.0.0.1:54321"
  std::string driver;   // empty: not said
  std::string user;
  std::string keyspace;  // chosen by USE; empty: none
};

// A value as it was sent.
struct RecordedValue {
  BoundValue value;       // the beginning of it when `is_cut`
  std::string_view name;  // of a marker; empty: by its place
  bool is_cut = false;    // more bytes were sent than are kept
};

// A statement of a record. Views into the record, or into what was prepared.
struct RecordedStatement {
  const PlannedStatement* prepared = nullptr;  // nullptr: sent as text, or not known any more
  std::string_view text;                       // empty: not known
  bool is_text_cut = false;
  std::vector<RecordedValue> values;
};

// Used again and again by a journal: Begin, then what there is to add. A copy stands by itself.
// 240 bytes and what was added.
class JournalRecord {
 public:
  enum class Kind : uint8_t {
    kQuery,
    kPrepare,
    kExecute,
    kBatch
  };

  uint64_t seq = 0;
  uint64_t at_nanos = 0;        // when it had arrived, since the Unix epoch
  uint64_t duration_nanos = 0;  // by the machine, whatever the clock
  uint64_t dead_rows = 0;       // that its reads passed over
  std::shared_ptr<const JournalClient> client;
  // Names; they live for ever. Empty: none.
  std::string_view consistency;
  std::string_view serial_consistency;
  std::string_view outcome;
  std::optional<int64_t> timestamp;  // the client's, microseconds
  std::optional<int32_t> page_size;
  Kind kind = Kind::kQuery;

  // Makes it a new record, with the memory of the old one; the facts above are the caller's to set.
  void Begin();
  // The next statement. Those behind kRecordedStatementsMax are left out, with their values.
  void AddText(std::string_view text);
  void AddPrepared(const std::shared_ptr<const PlannedStatement>& prepared);
  // A prepared statement that is not known any more.
  void AddUnknown() { AddText({}); }
  // A value of the last statement.
  void AddValue(const BoundValue& value, std::string_view name = {});
  // Behind all statements.
  void SetError(std::string_view message);

  size_t statement_count() const { return statement_count_; }
  bool leaves_out_statements() const { return leaves_out_statements_; }
  // O(bytes). Views into this.
  std::vector<RecordedStatement> Statements() const;
  std::string_view error() const;

 private:
  // A statement's share of bytes_.
  struct Part {
    std::shared_ptr<const PlannedStatement> prepared;
    uint32_t text_bytes = 0;
    uint16_t value_count = 0;
    bool is_text_cut = false;
  };

  Part& NextPart();
  Part* LastPart();
  size_t room() const { return kRecordedBytesMax - bytes_.size(); }

  Part first_;
  std::vector<Part> others_;  // of a batch
  // For each statement its text, when it was not prepared, and its values; then the error.
  std::string bytes_;
  uint32_t error_bytes_ = 0;
  uint16_t statement_count_ = 0;
  bool leaves_out_statements_ = false;
};

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_CONTROL_JOURNAL_RECORD_H_
