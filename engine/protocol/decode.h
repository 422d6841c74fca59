// The decoders behind DecodeRequest, one for each opcode. They read straight on and leave failures
// in the reader; what they made is of no use then.
#ifndef LISTSTORE_ENGINE_PROTOCOL_DECODE_H_
#define LISTSTORE_ENGINE_PROTOCOL_DECODE_H_

#include "engine/protocol/frame.h"
#include "engine/protocol/primitives.h"
#include "engine/protocol/request.h"
#include "engine/protocol/scylla_options.h"

namespace liststore::protocol {

struct DecodeContext {
  ProtocolVersion version;
  Extensions negotiated;
  // Its lists are empty when a decoder begins.
  RequestScratch& scratch;
};

void DecodeStartup(BodyReader& body, DecodeContext& context, Startup& startup);
void DecodeQuery(BodyReader& body, DecodeContext& context, Query& query);
void DecodePrepare(BodyReader& body, DecodeContext& context, Prepare& prepare);
void DecodeExecute(BodyReader& body, DecodeContext& context, Execute& execute);
void DecodeBatch(BodyReader& body, DecodeContext& context, Batch& batch);
void DecodeRegister(BodyReader& body, DecodeContext& context, Register& message);
void DecodeAuthResponse(BodyReader& body, DecodeContext& context, AuthResponse& response);

// <query_parameters>. Its values go behind those that the scratch has, as far as they can be read.
void DecodeQueryParameters(BodyReader& body, DecodeContext& context, QueryParameters& parameters);

}  // namespace liststore::protocol

#endif  // LISTSTORE_ENGINE_PROTOCOL_DECODE_H_
