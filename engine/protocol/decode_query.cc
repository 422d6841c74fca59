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

// Appends `count` values to `values`, which has room, as long as they have bytes: nearly all do.
// Returns how many bytes of `body` they take; nullopt: not all do, and `values` is of no use.
std::optional<size_t> AppendPlainValues(std::string_view body, size_t count,
                                        std::vector<Value>& values) {
  const char* at = body.data();
  const char* const end = at + body.size();
  for (; count > 0; --count) {
    if (end - at < 4) return std::nullopt;
    const auto length = static_cast<int32_t>(LoadBigEndian32(at));
    at += 4;
    if (length < 0 || end - at < length) return std::nullopt;
    values.push_back(Value::Of({at, static_cast<size_t>(length)}));
    at += length;
  }
  return static_cast<size_t>(at - body.data());
}

void DecodeValues(BodyReader& body, DecodeContext& context, bool with_names,
                  QueryParameters& parameters) {
  std::vector<Value>& values = context.scratch.values;
  std::vector<std::string_view>& names = context.scratch.names;
  if (with_names) context.scratch.has_values_alone = false;
  const size_t first = values.size();
  const size_t count = body.ReadShort();
  // A value takes 4 bytes at least: memory is asked for in proportion to what was sent.
  values.reserve(first + std::min(count, body.bytes_left() / 4));
  const std::string_view sent = body.rest();
  const std::optional<size_t> plain_bytes =
      with_names ? std::nullopt : AppendPlainValues(sent, count, values);
  if (plain_bytes) [[likely]] {
    body.ReadRaw(*plain_bytes);
  } else {
    values.resize(first);
    for (size_t i = 0; i < count && body.ok(); ++i) {
      if (with_names) names.push_back(body.ReadString());
      values.push_back(body.ReadValue(context.version));
    }
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
    DecodeValues(body, context, (flags & kWithNames) != 0, parameters);
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
