// Response frames as a connection that compresses has them.
#ifndef LISTSTORE_ENGINE_FACES_CQL_COMPRESSED_ANSWERS_H_
#define LISTSTORE_ENGINE_FACES_CQL_COMPRESSED_ANSWERS_H_

#include <cstddef>
#include <string_view>

#include "engine/base/output_buffer.h"
#include "engine/protocol/compression.h"

namespace liststore::cql_face {

// What remains of buffers after large answers.
inline constexpr size_t kScratchBytesMax = size_t{256} << 10;

// Appends whole `frames` to `out`, each compressed when it is worth it. Leaves `scratch` empty, and
// with no more than kScratchBytesMax. Linear.
void AppendCompressed(protocol::Compression compression, std::string_view frames, OutputBuffer& out,
                      OutputBuffer& scratch);

}  // namespace liststore::cql_face

#endif  // LISTSTORE_ENGINE_FACES_CQL_COMPRESSED_ANSWERS_H_
