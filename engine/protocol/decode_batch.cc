#include <algorithm>

#include "absl/strings/str_cat.h"
#include "engine/base/check.h"
#include "engine/protocol/decode.h"

namespace liststore::protocol {
namespace {

// <kind><query: long string | id: short bytes><n><value>...
BatchStatement DecodeStatement(BodyReader& body, DecodeContext& context) {
  BatchStatement statement;
  const uint8_t kind = body.ReadByte();
  switch (static_cast<BatchStatement::Kind>(kind)) {
    case BatchStatement::Kind::kQuery:
      statement.query_or_id = body.ReadLongString();
      break;
    case BatchStatement::Kind::kPrepared:
      statement.query_or_id = body.ReadShortBytes();
      break;
    default:
      body.Fail({ErrorCode::kProtocolError,
                 absl::StrCat("Invalid query kind in BATCH messages. Must be 0 or 1 but got ",
                              static_cast<int8_t>(kind))});
      break;
  }
  statement.kind = static_cast<BatchStatement::Kind>(kind);
  const size_t count = body.ReadShort();
  const std::string_view sent = body.rest();
  for (size_t i = 0; i < count && body.ok(); ++i) {
    context.scratch.values.push_back(body.ReadValue(context.version));
  }
  if (context.scratch.values.size() > context.scratch.batch_values_max) {
    body.Fail({ErrorCode::kInvalid, absl::StrCat("Batch too large: it has more than ",
                                                 context.scratch.batch_values_max, " values")});
  }
  if (context.version >= ProtocolVersion::kV4)
    statement.sent_values = sent.substr(0, sent.size() - body.bytes_left());
  return statement;
}

}  // namespace

// <type><n>(<statement>)*<query_parameters>. Source: ScyllaDB transport/server.cc, process_batch.
void DecodeBatch(BodyReader& body, DecodeContext& context, Batch& batch) {
  RequestScratch& scratch = context.scratch;
  scratch.has_values_alone = false;
  const uint8_t type = body.ReadByte();
  if (type > static_cast<uint8_t>(BatchType::kCounter)) {
    return body.Fail({ErrorCode::kProtocolError, absl::StrCat("Invalid BATCH type ", type)});
  }
  batch.type = static_cast<BatchType>(type);
  const size_t count = body.ReadShort();
  for (size_t i = 0; i < count && body.ok(); ++i) {
    scratch.statements.push_back(DecodeStatement(body, context));
    scratch.value_ends.push_back(static_cast<uint32_t>(scratch.values.size()));
  }
  DecodeQueryParameters(body, context, batch.parameters);
  if (!body.ok()) return;

  // Only now do the values stay where they are.
  size_t begin = 0;
  for (size_t i = 0; i < scratch.statements.size(); ++i) {
    const size_t end = scratch.value_ends[i];
    LS_DCHECK(begin <= end && end <= scratch.values.size(), "values follow one another");
    scratch.statements[i].values =
        std::span<const Value>(scratch.values).subspan(begin, end - begin);
    begin = end;
  }
  batch.statements = scratch.statements;
  // The protocol has no place for values and pages of a batch as a whole.
  batch.parameters.values = {};
  batch.parameters.value_names = {};
  batch.parameters.sent_values = {};
  batch.parameters.page_size = std::nullopt;
  batch.parameters.paging_state = {};
}

}  // namespace liststore::protocol
