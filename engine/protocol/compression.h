// Compression of frame bodies: LZ4 and Snappy, agreed on in STARTUP.
//
//   lz4      uncompressed length (4 bytes, big-endian), then one LZ4 block
//   snappy   one Snappy block, which begins with its length
//
// Source: native_protocol_v4.spec section 5; ScyllaDB transport/server.cc.
#ifndef LISTSTORE_ENGINE_PROTOCOL_COMPRESSION_H_
#define LISTSTORE_ENGINE_PROTOCOL_COMPRESSION_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "engine/base/output_buffer.h"
#include "engine/protocol/error_code.h"

namespace liststore::protocol {

enum class Compression : uint8_t {
  kNone,
  kLz4,
  kSnappy
};

// "lz4" and "snappy" in any letter case, else nullopt.
std::optional<Compression> ParseCompression(std::string_view name);

// Decompresses the body of a frame that has kFrameCompressed into `body`, whose contents go. A body
// that says to be longer than `body_bytes_max` is refused before memory is taken, and so is one
// that is malformed; without compression agreed on: `Unknown compression algorithm`. Nullopt:
// done.
[[nodiscard]] std::optional<ProtocolError> DecompressBody(Compression compression,
                                                          std::string_view compressed,
                                                          uint32_t body_bytes_max,
                                                          OutputBuffer& body);

// Bodies shorter than this stay as they are: a header's worth is gained at most.
inline constexpr size_t kCompressedBodyBytesMin = 512;

// Compresses the body of the finished response frame that begins at `frame` in `out` and ends with
// it, in place; sets the flag and the length. Leaves bodies below kCompressedBodyBytesMin alone,
// and those that would not shrink. `scratch` keeps its memory between calls.
void CompressFrame(Compression compression, size_t frame, OutputBuffer& out, OutputBuffer& scratch);

// Appends the compressed form of `body`: what DecompressBody takes.
void AppendCompressed(Compression compression, std::string_view body, OutputBuffer& out);

}  // namespace liststore::protocol

#endif  // LISTSTORE_ENGINE_PROTOCOL_COMPRESSION_H_
