#include "bench/wire/wire_sources.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "bench/wire/wire_line.h"
#include "engine/base/status_macros.h"
#include "engine/base/strings.h"
#include "liststore/item_key.h"
#include "programs/console/exit_codes.h"

namespace liststore {
namespace {

constexpr uint8_t kResult = 0x08;

absl::Status WrongAnswer(uint32_t list, std::string_view what) {
  return DifferenceError(absl::StrCat("list ", EntityIdOfList(list), ": ", std::string(what)));
}

absl::Status ExpectResult(const CqlReply& reply, const char* refused) {
  if (reply.opcode == kResult) return absl::OkStatus();
  const std::optional<CqlErrorReply> error = ErrorOf(reply);
  if (!error) return absl::InvalidArgumentError(refused);
  return absl::InvalidArgumentError(
      absl::StrFormat("%s: error 0x%04x: %s", refused, error->code, ToAbsl(error->text)));
}

// Source: native_protocol_v4.spec, section 9.
bool HadNoTime(const CqlReply& reply) {
  constexpr int32_t kOverloaded = 0x1001;
  constexpr int32_t kWriteTimeout = 0x1100;
  const std::optional<CqlErrorReply> error = ErrorOf(reply);
  return error && (error->code == kOverloaded || error->code == kWriteTimeout);
}

}  // namespace

std::string WireItemKey(const GrowingLists& lists, uint32_t list, uint32_t number,
                        std::string_view value) {
  return *MakeItemKey(lists.TimestampOf(list, number), value);
}

absl::Status CheckWireRows(const GrowingLists& lists, uint32_t list, const CqlRows& rows,
                           size_t limit) {
  const uint32_t all = lists.ItemsOf(list);
  const size_t expected = std::min<size_t>(all, limit);
  if (rows.size() != expected || (expected > 0 && rows.columns() != 2)) {
    return WrongAnswer(list, absl::StrCat(rows.size(), " rows of ", rows.columns(),
                                          " columns, expected ", expected, " of 2"));
  }
  for (size_t row = 0; row < expected; ++row) {
    const auto number = static_cast<uint32_t>(all - 1 - row);
    const std::string value = lists.ValueOf(list, number);
    if (rows.at(row, 0) != value || rows.at(row, 1) != WireItemKey(lists, list, number, value)) {
      return WrongAnswer(list, absl::StrCat("row ", row, " is not item ", number));
    }
  }
  return absl::OkStatus();
}

// --- Loading ------------------------------------------------------------------------------------

LoadSource::LoadSource(const GrowingLists& lists, std::string_view insert)
    : lists_(lists), insert_(insert), ttl_(CqlInt(static_cast<int32_t>(kBenchTtlSeconds))) {}

bool LoadSource::Next(size_t slot, int16_t stream, CqlRequests& requests) {
  if (again_.empty() && next_ == lists_.count()) return false;
  uint32_t list;
  if (!again_.empty()) {
    list = again_.back();
    again_.pop_back();
  } else {
    list = static_cast<uint32_t>(next_++);
  }
  if (slot >= lists_sent_.size()) lists_sent_.resize(slot + 1);
  lists_sent_[slot] = list;
  const std::string entity_id = EntityIdOfList(list);
  texts_.clear();
  values_.clear();
  executions_.clear();
  for (uint32_t number = 0; number < lists_.loaded(); ++number) {
    std::string value = lists_.ValueOf(list, number);
    std::string key = WireItemKey(lists_, list, number, value);
    texts_.push_back({std::move(key), std::move(value)});
  }
  values_.reserve(texts_.size());
  for (const auto& [key, value] : texts_) {
    values_.push_back({kWireFeatureKey, entity_id, key, value, ttl_});
    executions_.push_back({insert_, values_.back()});
  }
  requests.Batch(stream, executions_, std::nullopt);
  return true;
}

absl::Status LoadSource::OnReply(size_t slot, const CqlReply& reply) {
  if (HadNoTime(reply) && sent_again_ < kAgainMax) {
    ++sent_again_;
    again_.push_back(lists_sent_[slot]);
    return absl::OkStatus();
  }
  return ExpectResult(reply, "a BATCH was refused");
}

// --- Reading ------------------------------------------------------------------------------------

FrameTemplate::FrameTemplate(std::string_view statement_id, CqlRequests::Values values,
                             const CqlParameters& parameters) {
  frame_.Execute(0, statement_id, values, parameters);
}

char* FrameTemplate::AppendTo(CqlRequests& requests, int16_t stream) const {
  const size_t at = requests.view().size();
  requests.Append(frame_.view());
  char* const frame = requests.bytes().data() + at;
  frame[2] = static_cast<char>(stream >> 8);
  frame[3] = static_cast<char>(stream & 0xff);
  return frame;
}

SelectSource::SelectSource(const GrowingLists& lists, std::string_view select, size_t slots,
                           ListPicker picker, bool reads_replies)
    : lists_(lists),
      picker_(picker),
      reads_replies_(reads_replies),
      lists_asked_(slots),
      entity_id_(EntityIdOfList(0)),
      limit_(CqlInt(kWireRowsRead)),
      values_{kWireFeatureKey, entity_id_, kWireZeroBound, limit_},
      frame_(select, values_, {.skip_metadata = true, .page_size = 5'000}),
      entity_id_at_(frame_.Find(entity_id_)) {}

bool SelectSource::Next(size_t slot, int16_t stream, CqlRequests& requests) {
  const uint32_t list = picker_.Next();
  lists_asked_[slot] = list;
  WriteEntityId(list, frame_.AppendTo(requests, stream) + entity_id_at_);
  return true;
}

absl::Status SelectSource::OnReply(size_t slot, const CqlReply& reply) {
  const uint32_t list = lists_asked_[slot];
  LS_RETURN_IF_ERROR(ExpectResult(reply, "a SELECT was refused"));
  if (!reads_replies_) {
    if (body_bytes_ == 0) body_bytes_ = reply.body.size();
  } else if (replies_++ % kWireOfWhichVerified == 0) {
    CqlRows rows;
    LS_RETURN_IF_ERROR(CqlRows::Decode(reply.body, &rows));
    LS_RETURN_IF_ERROR(CheckWireRows(lists_, list, rows, kWireRowsRead));
    body_bytes_ = reply.body.size();
    ++verified_;
  }
  if (reply.body.size() == body_bytes_) return absl::OkStatus();
  return WrongAnswer(
      list, absl::StrCat("a reply of ", reply.body.size(), " bytes, expected ", body_bytes_));
}

// --- Adding -------------------------------------------------------------------------------------

InsertSource::InsertSource(GrowingLists& lists, std::string_view insert, ListPicker picker)
    : lists_(lists),
      picker_(picker),
      insert_(insert),
      ttl_(CqlInt(static_cast<int32_t>(kBenchTtlSeconds))) {}

bool InsertSource::Next(size_t /*slot*/, int16_t stream, CqlRequests& requests) {
  const uint32_t list = picker_.Next();
  const uint32_t number = lists_.AddTo(list);
  const std::string entity_id = EntityIdOfList(list);
  const std::string value = lists_.ValueOf(list, number);
  const std::string key = WireItemKey(lists_, list, number, value);
  const std::string_view values[] = {kWireFeatureKey, entity_id, key, value, ttl_};
  requests.Execute(stream, insert_, values);
  return true;
}

absl::Status InsertSource::OnReply(size_t /*slot*/, const CqlReply& reply) {
  return ExpectResult(reply, "an INSERT was refused");
}

}  // namespace liststore
