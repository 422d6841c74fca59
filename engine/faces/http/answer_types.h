// Types as answers of CQL describe them: of columns, and of a statement's bind markers.
#ifndef LISTSTORE_ENGINE_FACES_HTTP_ANSWER_TYPES_H_
#define LISTSTORE_ENGINE_FACES_HTTP_ANSWER_TYPES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/model/types/data_type.h"
#include "engine/protocol/primitives.h"

namespace liststore::http_face {

// Source: native_protocol_v4.spec section 4.2.5.2.
inline constexpr uint32_t kGlobalTablesSpec = 0x01;

// The type that an [option] names.
DataType ReadType(protocol::BodyReader& body);

struct BindMarker {
  std::string name;
  DataType type;
};
struct PreparedAnswer {
  std::string id;
  std::vector<BindMarker> markers;  // in their order
};
// The answer to a PREPARE, a whole frame of version 4 that has no error.
PreparedAnswer ReadPrepared(std::string_view frame);

}  // namespace liststore::http_face

#endif  // LISTSTORE_ENGINE_FACES_HTTP_ANSWER_TYPES_H_
