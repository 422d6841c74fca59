#include "engine/control/journal_block.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "engine/base/big_endian.h"
#include "engine/base/cacheline.h"
#include "engine/base/check.h"
#include "engine/base/utf8.h"

namespace liststore {
namespace {

// What stands in front of a record. Behind it: the statements, the error, and SharedFacts where
// they are others than those of the record before.
struct RecordHeader {
  int64_t timestamp = 0;
  uint32_t bytes = 0;  // of the record, this included
  uint16_t error_bytes = 0;
  uint8_t statement_count = 0;
  bool has_timestamp : 1 = false;
  bool has_shared_facts : 1 = false;
  bool leaves_out_statements : 1 = false;
};
static_assert(sizeof(RecordHeader) == 16);
static_assert(kRecordedStatementsMax <= UINT8_MAX && kRecordedBytesMax <= UINT16_MAX);

// What stands in front of a statement's text and values. A value is written as the protocol has it:
// big-endian, with names 2 bytes of length and the name; 4 bytes of length and the bytes, of which
// kRecordedValueBytesMax are there at most; a length below 0 is null or unset.
struct PartHeader {
  const PlannedStatement* prepared = nullptr;
  uint32_t text_bytes = 0;
  uint16_t value_count = 0;
  bool is_text_cut = false;
  bool have_names = false;
};
static_assert(sizeof(PartHeader) == 16);

constexpr uint32_t kNullLength = static_cast<uint32_t>(-1);
constexpr uint32_t kUnsetLength = static_cast<uint32_t>(-2);
constexpr size_t kLengthBytes = 4;
constexpr size_t kNameLengthBytes = 2;

static_assert(sizeof(RecordHeader) + kRecordedStatementsMax * sizeof(PartHeader) +
                  kRecordedBytesMax + sizeof(SharedFacts) <=
              kJournalRecordBytesMax);

constexpr size_t kUsualRecordBytes = 128;
// Records of a group follow each other sooner than a line comes: some of them ahead.
constexpr size_t kPrefetchedAheadBytes = 8 * kUsualRecordBytes;

// The beginning of `text` in at most `bytes_max` bytes, without half a character.
std::string_view WholeCharacters(std::string_view text, size_t bytes_max) {
  if (text.size() <= bytes_max) return text;
  const std::string_view kept = text.substr(0, bytes_max);
  return kept.substr(0, ValidUtf8Bytes(kept));
}

std::string_view TakeBytes(std::string_view& rest, size_t bytes) {
  LS_CHECK(bytes <= rest.size(), "a record holds what its counts say");
  const std::string_view taken = rest.substr(0, bytes);
  rest.remove_prefix(bytes);
  return taken;
}

template <typename Header>
Header TakeHeader(std::string_view& rest) {
  Header header;
  std::memcpy(&header, TakeBytes(rest, sizeof(header)).data(), sizeof(header));
  return header;
}

RecordedValue TakeValue(std::string_view& rest, bool has_name) {
  RecordedValue value;
  if (has_name) {
    const uint16_t name_bytes = LoadBigEndian16(TakeBytes(rest, kNameLengthBytes).data());
    value.name = TakeBytes(rest, name_bytes);
  }
  const uint32_t length = LoadBigEndian32(TakeBytes(rest, kLengthBytes).data());
  if (length == kUnsetLength) {
    value.value = {BoundValue::State::kUnset, {}};
  } else if (length <= INT32_MAX) {
    const size_t kept = std::min<size_t>(length, kRecordedValueBytesMax);
    value.value = {BoundValue::State::kValue, TakeBytes(rest, kept)};
    value.is_cut = kept < length;
  }
  return value;
}

}  // namespace

std::vector<RecordedStatement> JournalRecord::Statements() const {
  std::vector<RecordedStatement> statements;
  statements.reserve(statement_count_);
  std::string_view rest = parts_;
  for (size_t i = 0; i < statement_count_; ++i) {
    const auto part = TakeHeader<PartHeader>(rest);
    RecordedStatement& statement = statements.emplace_back();
    statement.prepared = part.prepared;
    statement.is_text_cut = part.is_text_cut;
    statement.text = TakeBytes(rest, part.text_bytes);
    if (part.prepared != nullptr) statement.text = part.prepared->text;
    for (size_t k = 0; k < part.value_count; ++k) {
      statement.values.push_back(TakeValue(rest, part.have_names));
    }
  }
  LS_CHECK(rest.empty(), "a record holds what its counts say");
  return statements;
}

JournalRecord JournalBlockReader::Next() {
  std::string_view rest = rest_;
  const auto header = TakeHeader<RecordHeader>(rest);
  std::string_view body = TakeBytes(rest, header.bytes - sizeof(header));
  rest_ = rest;
  if (header.has_shared_facts) {
    LS_CHECK(body.size() >= sizeof(shared_), "a record holds what its header says");
    std::string_view facts = body.substr(body.size() - sizeof(shared_));
    body.remove_suffix(sizeof(shared_));
    shared_ = TakeHeader<SharedFacts>(facts);
  }
  LS_CHECK(header.error_bytes <= body.size(), "a record holds what its header says");
  JournalRecord record;
  static_cast<SharedFacts&>(record) = shared_;
  if (header.has_timestamp) record.timestamp = header.timestamp;
  record.seq_ = seq_++;
  record.statement_count_ = header.statement_count;
  record.leaves_out_statements_ = header.leaves_out_statements;
  record.error_ = body.substr(body.size() - header.error_bytes);
  body.remove_suffix(header.error_bytes);
  record.parts_ = body;
  return record;
}

namespace {

// Copies `bytes`, as a rule a few, and returns where they end. Written out because GCC 12 makes of
// a memcpy with a bound an instruction that takes longer to begin than all of this.
[[gnu::always_inline]] inline char* CopyShort(char* to, std::string_view bytes) {
  const char* const from = bytes.data();
  const size_t size = bytes.size();
  if (size >= 16) {
    for (size_t i = 0; i + 16 < size; i += 16) std::memcpy(to + i, from + i, 16);
    std::memcpy(to + size - 16, from + size - 16, 16);
  } else if (size >= 8) {
    std::memcpy(to, from, 8);
    std::memcpy(to + size - 8, from + size - 8, 8);
  } else {
    for (size_t i = 0; i < size; ++i) to[i] = from[i];
  }
  return to + size;
}

}  // namespace

JournalWriter::JournalWriter(JournalBlock& block)
    : block_(block), end_(block.memory_.get() + block.bytes_ + sizeof(RecordHeader)) {
  LS_CHECK(block.HasRoom(), "a record is begun where it has room");
  // The lines that one of the next records will take: nobody has looked at them since the block was
  // given out, and a store that waits for its line makes others wait.
  for (size_t line = 0; line < kUsualRecordBytes; line += kCacheLineBytes) {
    __builtin_prefetch(end_ + kPrefetchedAheadBytes + line, 1);
  }
}

void JournalWriter::Append(std::string_view bytes) {
  LS_DCHECK(bytes.size() <= room(), "what has no room is cut before");
  end_ = CopyShort(end_, bytes);
  recorded_bytes_ += bytes.size();
}

// False: the statement is left out.
bool JournalWriter::BeginPart() {
  LS_DCHECK(error_bytes_ == 0, "the error comes behind all statements");
  leaves_out_statements_ = statement_count_ == kRecordedStatementsMax;
  if (leaves_out_statements_) return false;
  FinishPart();
  part_ = end_;
  end_ += sizeof(PartHeader);
  ++statement_count_;
  prepared_ = nullptr;
  text_bytes_ = 0;
  value_count_ = 0;
  is_text_cut_ = false;
  have_names_ = false;
  return true;
}

void JournalWriter::FinishPart() {
  if (part_ == nullptr) return;
  const PartHeader header{prepared_, text_bytes_, value_count_, is_text_cut_, have_names_};
  std::memcpy(part_, &header, sizeof(header));
}

void JournalWriter::AddText(std::string_view text) {
  if (!BeginPart()) return;
  const std::string_view kept = WholeCharacters(text, std::min(kRecordedTextBytesMax, room()));
  Append(kept);
  text_bytes_ = static_cast<uint32_t>(kept.size());
  is_text_cut_ = kept.size() < text.size();
}

bool JournalWriter::AddSentValues(std::string_view sent, size_t count, bool have_names) {
  LS_CHECK(part_ != nullptr && value_count_ == 0, "these are a statement's only values");
  if (leaves_out_statements_) return true;
  if (sent.size() > std::min(kRecordedValueBytesMax, room())) return false;
  Append(sent);
  value_count_ = static_cast<uint16_t>(count);
  have_names_ = have_names;
  return true;
}

void JournalWriter::AddValue(const BoundValue& value, std::optional<std::string_view> name) {
  LS_CHECK(part_ != nullptr, "a value belongs to a statement");
  LS_DCHECK(value_count_ == 0 || have_names_ == name.has_value(), "all have names, or none");
  LS_DCHECK(value.bytes.size() <= INT32_MAX, "a value came in a frame");
  const size_t kept = value.has_value() ? std::min(value.bytes.size(), kRecordedValueBytesMax) : 0;
  const size_t name_bytes = name ? kNameLengthBytes + name->size() : 0;
  // Values without room are not even counted: whoever reads sees that some are missing.
  if (leaves_out_statements_ || room() < name_bytes + kLengthBytes + kept) return;
  if (name) {
    LS_DCHECK(name->size() <= UINT16_MAX, "a name came as a [string]");
    char length[kNameLengthBytes];
    StoreBigEndian16(length, static_cast<uint16_t>(name->size()));
    Append({length, sizeof(length)});
    Append(*name);
  }
  char length[kLengthBytes];
  StoreBigEndian32(length, value.has_value() ? static_cast<uint32_t>(value.bytes.size())
                           : value.is_null() ? kNullLength
                                             : kUnsetLength);
  Append({length, sizeof(length)});
  Append(value.bytes.substr(0, kept));
  ++value_count_;
  have_names_ = name.has_value();
}

void JournalWriter::SetError(std::string_view message) {
  LS_DCHECK(error_bytes_ == 0, "a request has one error");
  const std::string_view kept = WholeCharacters(message, std::min(kRecordedValueBytesMax, room()));
  Append(kept);
  error_bytes_ = static_cast<uint16_t>(kept.size());
}

void JournalWriter::Finish() {
  FinishPart();
  const SharedFacts& shared = facts;
  const bool has_shared_facts = shared != block_.shared_;
  if (has_shared_facts) {
    std::memcpy(end_, &shared, sizeof(shared));
    end_ += sizeof(shared);
    block_.shared_ = shared;
  }
  char* const begin = block_.memory_.get() + block_.bytes_;
  RecordHeader header;
  header.timestamp = facts.timestamp.value_or(0);
  header.bytes = static_cast<uint32_t>(end_ - begin);
  header.error_bytes = error_bytes_;
  header.statement_count = statement_count_;
  header.has_timestamp = facts.timestamp.has_value();
  header.has_shared_facts = has_shared_facts;
  header.leaves_out_statements = leaves_out_statements_;
  LS_CHECK(header.bytes <= kJournalRecordBytesMax, "a record has its limits");
  std::memcpy(begin, &header, sizeof(header));
  block_.bytes_ += header.bytes;
}

}  // namespace liststore
