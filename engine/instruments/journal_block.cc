#include "engine/instruments/journal_block.h"

#include <algorithm>
#include <cstring>

#include "engine/base/big_endian.h"
#include "engine/base/check.h"

namespace liststore::instruments {
namespace {

using journal_format::kLengthBytes;
using journal_format::kNameLengthBytes;
using journal_format::kUnsetLength;
using journal_format::PartHeader;
using journal_format::RecordHeader;

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
    value.value = {cql::BoundValue::State::kUnset, {}};
  } else if (length <= INT32_MAX) {
    const size_t kept = std::min<size_t>(length, kRecordedValueBytesMax);
    value.value = {cql::BoundValue::State::kValue, TakeBytes(rest, kept)};
    value.is_cut = kept < length;
  }
  return value;
}

}  // namespace

std::vector<RecordedStatement> JournalRecord::Statements() const {
  std::vector<RecordedStatement> statements;
  statements.reserve(statement_count_);
  std::string_view rest = parts_;
  std::string_view repeated_part = repeated_part_;
  for (size_t i = 0; i < statement_count_; ++i) {
    std::string_view& head = repeated_part.empty() ? rest : repeated_part;
    const auto part = TakeHeader<PartHeader>(head);
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
  if (header.has_seq) {
    LS_CHECK(body.size() >= sizeof(seq_), "a record holds what its header says");
    std::string_view seq = body.substr(body.size() - sizeof(seq_));
    body.remove_suffix(sizeof(seq_));
    seq_ = TakeHeader<uint64_t>(seq);
  }
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
  if (header.repeats) {
    record.repeated_part_ = part_;
  } else if (header.statement_count > 0) {
    part_ = body.substr(0, sizeof(PartHeader));
  }
  return record;
}

}  // namespace liststore::instruments
