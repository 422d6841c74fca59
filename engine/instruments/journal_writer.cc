#include "engine/instruments/journal_writer.h"

#include <algorithm>

#include "engine/base/big_endian.h"
#include "engine/base/utf8.h"

namespace liststore::instruments {
namespace {

using journal_format::kLengthBytes;
using journal_format::kNameLengthBytes;
using journal_format::kNullLength;
using journal_format::kUnsetLength;

// The beginning of `text` in at most `bytes_max` bytes, without half a character.
std::string_view WholeCharacters(std::string_view text, size_t bytes_max) {
  if (text.size() <= bytes_max) return text;
  const std::string_view kept = text.substr(0, bytes_max);
  return kept.substr(0, ValidUtf8Bytes(kept));
}

}  // namespace

void JournalWriter::Append(std::string_view bytes) {
  LS_DCHECK(bytes.size() <= room(), "what has no room is cut before");
  end_ = CopyShort(bytes, end_);
  recorded_bytes_ += bytes.size();
}

// False: the statement is left out.
bool JournalWriter::BeginPart() {
  LS_DCHECK(error_bytes_ == 0, "the error comes behind all statements");
  leaves_out_statements_ = statement_count_ == kRecordedStatementsMax;
  if (leaves_out_statements_) return false;
  FinishPart();
  part_begin_ = end_;
  part_ = {};
  end_ += sizeof(part_);
  ++statement_count_;
  return true;
}

void JournalWriter::FinishPart() {
  if (part_begin_ != nullptr) std::memcpy(part_begin_, &part_, sizeof(part_));
}

void JournalWriter::AddText(std::string_view text) {
  if (!BeginPart()) return;
  const std::string_view kept = WholeCharacters(text, std::min(kRecordedTextBytesMax, room()));
  Append(kept);
  part_.text_bytes = static_cast<uint32_t>(kept.size());
  part_.is_text_cut = kept.size() < text.size();
}

bool JournalWriter::AddSentValues(std::string_view sent, size_t count, bool have_names) {
  if (leaves_out_statements_) return true;  // part_ is of a statement before
  LS_CHECK(part_begin_ != nullptr && part_.value_count == 0, "these are a statement's only values");
  if (sent.size() > std::min(kRecordedValueBytesMax, room())) return false;
  Append(sent);
  part_.value_count = static_cast<uint16_t>(count);
  part_.have_names = have_names;
  return true;
}

void JournalWriter::AddValue(const cql::BoundValue& value, std::optional<std::string_view> name) {
  if (leaves_out_statements_) return;  // part_ is of a statement before
  LS_CHECK(part_begin_ != nullptr, "a value belongs to a statement");
  LS_DCHECK(part_.value_count == 0 || part_.have_names == name.has_value(),
            "all have names, or none");
  LS_DCHECK(value.bytes.size() <= INT32_MAX, "a value came in a frame");
  const size_t kept = value.has_value() ? std::min(value.bytes.size(), kRecordedValueBytesMax) : 0;
  const size_t name_bytes = name ? kNameLengthBytes + name->size() : 0;
  // Values without room are not even counted: whoever reads sees that some are missing.
  if (room() < name_bytes + kLengthBytes + kept) return;
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
  ++part_.value_count;
  part_.have_names = name.has_value();
}

void JournalWriter::SetError(std::string_view message) {
  LS_DCHECK(error_bytes_ == 0, "a request has one error");
  const std::string_view kept = WholeCharacters(message, std::min(kRecordedValueBytesMax, room()));
  Append(kept);
  error_bytes_ = static_cast<uint16_t>(kept.size());
}

void JournalWriter::Finish() {
  if (is_finished_) return;
  FinishPart();
  const SharedFacts& shared = facts;
  const bool has_shared_facts = shared != block_->shared_;
  if (has_shared_facts) {
    std::memcpy(end_, &shared, sizeof(shared));
    end_ += sizeof(shared);
    block_->shared_ = shared;
  }
  const bool has_seq = seq_ != block_->next_seq_;
  if (has_seq) {
    std::memcpy(end_, &seq_, sizeof(seq_));
    end_ += sizeof(seq_);
  }
  block_->next_seq_ = seq_ + 1;
  journal_format::RecordHeader header;
  header.timestamp = facts.timestamp.value_or(0);
  header.bytes = static_cast<uint32_t>(end_ - begin());
  header.error_bytes = error_bytes_;
  header.statement_count = statement_count_;
  header.has_timestamp = facts.timestamp.has_value();
  header.has_shared_facts = has_shared_facts;
  header.has_seq = has_seq;
  header.leaves_out_statements = leaves_out_statements_;
  LS_CHECK(header.bytes <= journal_format::kRecordBytesMax, "a record has its limits");
  std::memcpy(begin(), &header, sizeof(header));
  block_->bytes_ += header.bytes;

  const bool is_repeatable =
      statement_count_ == 1 && part_.prepared != nullptr && !part_.have_names && error_bytes_ == 0;
  repeatable_ = is_repeatable ? block_ : nullptr;
  repeatable_values_ = part_.value_count;
  facts = {};
  part_begin_ = nullptr;
  part_ = {};
  statement_count_ = 0;
  leaves_out_statements_ = false;
  error_bytes_ = 0;
  recorded_bytes_ = 0;
}

}  // namespace liststore::instruments
