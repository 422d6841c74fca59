// How a record of the journal lies in its block: a RecordHeader; for each statement a PartHeader,
// its text and its values; the error; SharedFacts where they are others than those of the record
// before; and its number where it does not follow on that of the record before. Of a record that
// repeats the one before: a RecordHeader and the values. In the machine's own order: a journal lives
// as long as its process.
#ifndef LISTSTORE_ENGINE_INSTRUMENTS_JOURNAL_FORMAT_H_
#define LISTSTORE_ENGINE_INSTRUMENTS_JOURNAL_FORMAT_H_

#include <cstddef>
#include <cstdint>

#include "engine/instruments/journal_record.h"

namespace liststore::instruments::journal_format {

struct RecordHeader {
  int64_t timestamp = 0;
  uint32_t bytes = 0;  // of the record, this included
  uint16_t error_bytes = 0;
  uint8_t statement_count = 0;
  bool has_timestamp : 1 = false;
  bool has_shared_facts : 1 = false;
  bool leaves_out_statements : 1 = false;
  bool has_seq : 1 = false;
  bool repeats : 1 = false;  // the PartHeader is that of the record before, of one statement
};
static_assert(sizeof(RecordHeader) == 16);
static_assert(kRecordedStatementsMax <= UINT8_MAX && kRecordedBytesMax <= UINT16_MAX);

// A value is written as the protocol has it: big-endian, with names 2 bytes of length and the name;
// 4 bytes of length and the bytes, of which kRecordedValueBytesMax are there at most; a length
// below 0 is null or unset.
struct PartHeader {
  const cql::PlannedStatement* prepared = nullptr;
  uint32_t text_bytes = 0;
  uint16_t value_count = 0;
  bool is_text_cut = false;
  bool have_names = false;
};
static_assert(sizeof(PartHeader) == 16);

inline constexpr uint32_t kNullLength = static_cast<uint32_t>(-1);
inline constexpr uint32_t kUnsetLength = static_cast<uint32_t>(-2);
inline constexpr size_t kLengthBytes = 4;
inline constexpr size_t kNameLengthBytes = 2;

// No record takes more: what is kept of it, and what stands in front of its parts.
inline constexpr size_t kRecordBytesMax =
    sizeof(RecordHeader) + kRecordedStatementsMax * sizeof(PartHeader) + kRecordedBytesMax +
    sizeof(SharedFacts) + sizeof(uint64_t);

}  // namespace liststore::instruments::journal_format

#endif  // LISTSTORE_ENGINE_INSTRUMENTS_JOURNAL_FORMAT_H_
