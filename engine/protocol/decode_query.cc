#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/base/big_endian.h"
#include "engine/base/check.h"
#include "engine/protocol/decode.h"

namespace liststore::protocol {
namespace {

// Bits of <flags> in <query_parameters>. Those of v5 are ignored, as ScyllaDB ignores them.
constexpr uint8_t kWithValues = 0x01;
constexpr uint8_t kSkipMetadata = 0x02;
constexpr uint8_t kWithPageSize = 0x04;
constexpr uint8_t kWithPagingState = 0x08;
constexpr uint8_t kWithSerialConsistency = 0x10;
constexpr uint8_t kWithDefaultTimestamp = 0x20;
constexpr uint8_t kWithNames = 0x40;

// ScyllaDB keeps this one for "no timestamp" (mutation/timestamp.hh).
constexpr int64_t kMissingTimestamp = std::numeric_limits<int64_t>::min();

constexpr size_t kCountBytes = 2;
constexpr size_t kLengthBytes = 4;

// Values without names that all have bytes, as nearly all do. False: others, or not all are there;
// nothing was read.
bool DecodePlainValues(BodyReader& body, DecodeContext& context, QueryParameters& parameters) {
  const std::string_view rest = body.rest();
  if (rest.size() < kCountBytes) return false;
  const size_t count = LoadBigEndian16(rest.data());
  // Each takes the bytes of its length: memory is asked for in proportion to what was sent.
  if (count > (rest.size() - kCountBytes) / kLengthBytes) return false;
  auto& values = context.scratch.values;
  const size_t first = values.size();
  values.resize(first + count);
  const char* const begin = rest.data() + kCountBytes;
  const char* const end = rest.data() + rest.size();
  const char* at = begin;
  for (Value *to = values.data() + first, *to_end = to + count; to != to_end; ++to) {
    const auto left = end - at - static_cast<ptrdiff_t>(kLengthBytes);
    const auto length = left >= 0 ? static_cast<int32_t>(LoadBigEndian32(at)) : -1;
    if (length < 0 || left < length) [[unlikely]] {
      values.resize(first);
      return false;
    }
    *to = Value::Of({at + kLengthBytes, static_cast<size_t>(length)});
    at += kLengthBytes + static_cast<size_t>(length);
  }
  parameters.values = {values.data() + first, count};
  if (context.version >= ProtocolVersion::kV4) {
    parameters.sent_values = {begin, static_cast<size_t>(at - begin)};
  }
  body.Skip(kCountBytes + static_cast<size_t>(at - begin));
  return true;
}

void DecodeValues(BodyReader& body, DecodeContext& context, bool with_names,
                  QueryParameters& parameters) {
  auto& values = context.scratch.values;
  std::vector<std::string_view>& names = context.scratch.names;
  if (with_names) context.scratch.has_values_alone = false;
  const size_t first = values.size();
  const size_t count = body.ReadShort();
  values.reserve(first + std::min(count, body.bytes_left() / kLengthBytes));
  const std::string_view sent = body.rest();
  for (size_t i = 0; i < count && body.ok(); ++i) {
    if (with_names) names.push_back(body.ReadString());
    values.push_back(body.ReadValue(context.version));
  }
  parameters.values = std::span<const Value>(values).subspan(first);
  parameters.value_names = names;
  if (context.version >= ProtocolVersion::kV4)
    parameters.sent_values = sent.substr(0, sent.size() - body.bytes_left());
  LS_DCHECK(!with_names || names.size() == parameters.values.size(), "each value has its name");
}

void DecodeDefaultTimestamp(BodyReader& body, QueryParameters& parameters) {
  const int64_t timestamp = body.ReadLong();
  if (timestamp == kMissingTimestamp) {
    return body.Fail(
        {ErrorCode::kProtocolError,
         absl::StrCat("Out of bound timestamp, must be in [", kMissingTimestamp + 1, ", ",
                      std::numeric_limits<int64_t>::max(), "] (got ", timestamp, ")")});
  }
  parameters.default_timestamp = timestamp;
}

}  // namespace

// <consistency><flags>[values][page size][paging state][serial consistency][timestamp]
void DecodeQueryParameters(BodyReader& body, DecodeContext& context, QueryParameters& parameters) {
  parameters.consistency = body.ReadConsistency();
  const uint8_t flags = body.ReadByte();
  parameters.skip_metadata = (flags & kSkipMetadata) != 0;
  if ((flags & kWithValues) != 0) {
    const bool with_names = (flags & kWithNames) != 0;
    if (with_names || !DecodePlainValues(body, context, parameters)) {
      DecodeValues(body, context, with_names, parameters);
    }
  }
  if ((flags & kWithPageSize) != 0) {
    const int32_t page_size = body.ReadInt();
    if (page_size > 0) parameters.page_size = page_size;
  }
  if ((flags & kWithPagingState) != 0) {
    const Value paging_state = body.ReadBytes();
    if (paging_state.has_bytes()) parameters.paging_state = paging_state.bytes();
  }
  if ((flags & kWithSerialConsistency) != 0) {
    parameters.serial_consistency = body.ReadConsistency();
  }
  if ((flags & kWithDefaultTimestamp) != 0) DecodeDefaultTimestamp(body, parameters);
}

// <query: long string><query_parameters>
void DecodeQuery(BodyReader& body, DecodeContext& context, Query& query) {
  query.query = body.ReadLongString();
  DecodeQueryParameters(body, context, query.parameters);
}

}  // namespace liststore::protocol
