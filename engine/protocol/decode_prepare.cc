#include "engine/protocol/decode.h"

namespace liststore::protocol {

// <query: long string>
void DecodePrepare(BodyReader& body, DecodeContext&, Prepare& prepare) {
  prepare.query = body.ReadLongString();
}

}  // namespace liststore::protocol
