#include "engine/protocol/decode.h"

namespace liststore::protocol {

// <id: short bytes>[<result_metadata_id: short bytes>]<query_parameters>
void DecodeExecute(BodyReader& body, DecodeContext& context, Execute& execute) {
  execute.id = body.ReadShortBytes();
  if (context.negotiated.metadata_id) execute.result_metadata_id = body.ReadShortBytes();
  DecodeQueryParameters(body, context, execute.parameters);
}

}  // namespace liststore::protocol
