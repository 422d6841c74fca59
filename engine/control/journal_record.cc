#include "engine/control/journal_record.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "engine/base/check.h"
#include "engine/base/utf8.h"

namespace liststore {
namespace {

// What stands in front of a value's name and bytes.
struct ValueHeader {
  uint32_t kept_bytes = 0;
  uint16_t name_bytes = 0;
  BoundValue::State state = BoundValue::State::kNull;
  bool is_cut = false;
};
static_assert(sizeof(ValueHeader) == 8);

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

RecordedValue TakeValue(std::string_view& rest) {
  ValueHeader header;
  std::memcpy(&header, TakeBytes(rest, sizeof(header)).data(), sizeof(header));
  RecordedValue value;
  value.name = TakeBytes(rest, header.name_bytes);
  value.value = {header.state, TakeBytes(rest, header.kept_bytes)};
  value.is_cut = header.is_cut;
  return value;
}

}  // namespace

void JournalRecord::Begin() {
  // first_.prepared stays: the next record is of the same statement as a rule, and a pointer that
  // is not touched costs nothing.
  others_.clear();
  bytes_.clear();
  error_bytes_ = 0;
  statement_count_ = 0;
  leaves_out_statements_ = false;
}

JournalRecord::Part& JournalRecord::NextPart() {
  LS_DCHECK(error_bytes_ == 0, "the error comes behind all statements");
  Part& part = statement_count_ == 0 ? first_ : others_.emplace_back();
  ++statement_count_;
  part.text_bytes = 0;
  part.value_count = 0;
  part.is_text_cut = false;
  return part;
}

JournalRecord::Part* JournalRecord::LastPart() {
  LS_CHECK(statement_count_ > 0, "a value belongs to a statement");
  if (leaves_out_statements_) return nullptr;
  return statement_count_ == 1 ? &first_ : &others_.back();
}

void JournalRecord::AddText(std::string_view text) {
  leaves_out_statements_ = statement_count_ == kRecordedStatementsMax;
  if (leaves_out_statements_) return;
  Part& part = NextPart();
  part.prepared.reset();
  const std::string_view kept = WholeCharacters(text, std::min(kRecordedTextBytesMax, room()));
  bytes_.append(kept);
  part.text_bytes = static_cast<uint32_t>(kept.size());
  part.is_text_cut = kept.size() < text.size();
}

void JournalRecord::AddPrepared(const std::shared_ptr<const PlannedStatement>& prepared) {
  LS_DCHECK(prepared != nullptr, "what is not known has no pointer");
  leaves_out_statements_ = statement_count_ == kRecordedStatementsMax;
  if (leaves_out_statements_) return;
  Part& part = NextPart();
  if (part.prepared != prepared) part.prepared = prepared;
}

void JournalRecord::AddValue(const BoundValue& value, std::string_view name) {
  Part* const part = LastPart();
  // Values without room are not even counted: whoever reads sees that some are missing.
  if (part == nullptr || room() < sizeof(ValueHeader) + name.size()) return;
  const size_t room_left = room() - sizeof(ValueHeader) - name.size();
  ValueHeader header;
  header.state = value.state;
  header.name_bytes = static_cast<uint16_t>(name.size());
  if (value.has_value()) {
    header.kept_bytes =
        static_cast<uint32_t>(std::min({value.bytes.size(), kRecordedValueBytesMax, room_left}));
    header.is_cut = header.kept_bytes < value.bytes.size();
  }
  bytes_.append(reinterpret_cast<const char*>(&header), sizeof(header));
  bytes_.append(name).append(value.bytes.substr(0, header.kept_bytes));
  ++part->value_count;
}

void JournalRecord::SetError(std::string_view message) {
  LS_DCHECK(error_bytes_ == 0, "a request has one error");
  const std::string_view kept = WholeCharacters(message, std::min(kRecordedValueBytesMax, room()));
  bytes_.append(kept);
  error_bytes_ = static_cast<uint32_t>(kept.size());
}

std::vector<RecordedStatement> JournalRecord::Statements() const {
  std::vector<RecordedStatement> statements;
  statements.reserve(statement_count_);
  std::string_view rest = bytes_;
  for (size_t i = 0; i < statement_count_; ++i) {
    const Part& part = i == 0 ? first_ : others_[i - 1];
    RecordedStatement& statement = statements.emplace_back();
    statement.prepared = part.prepared.get();
    statement.is_text_cut = part.is_text_cut;
    statement.text = TakeBytes(rest, part.text_bytes);
    if (statement.prepared != nullptr) statement.text = statement.prepared->text;
    for (size_t k = 0; k < part.value_count; ++k) statement.values.push_back(TakeValue(rest));
  }
  LS_CHECK(rest.size() == error_bytes_, "a record holds what its counts say");
  return statements;
}

std::string_view JournalRecord::error() const {
  return std::string_view(bytes_).substr(bytes_.size() - error_bytes_);
}

}  // namespace liststore
