#include "engine/faces/cql/compressed_answers.h"

#include "engine/base/big_endian.h"
#include "engine/base/check.h"
#include "engine/protocol/frame.h"

namespace liststore::cql_face {
namespace {

// Bytes of the whole response frame at the front of `frames`.
size_t FrameBytes(std::string_view frames) {
  LS_CHECK(frames.size() >= protocol::kFrameHeaderBytes, "a handler appends whole frames");
  const size_t bytes = protocol::kFrameHeaderBytes + LoadBigEndian32(frames.data() + 5);
  LS_CHECK(bytes <= frames.size(), "a handler appends whole frames");
  return bytes;
}

}  // namespace

void AppendCompressed(protocol::Compression compression, std::string_view frames, OutputBuffer& out,
                      OutputBuffer& scratch) {
  while (!frames.empty()) {
    const size_t bytes = FrameBytes(frames);
    const size_t begin = out.size();
    out.Append(frames.substr(0, bytes));
    protocol::CompressFrame(compression, begin, out, scratch);
    frames.remove_prefix(bytes);
  }
  scratch.Clear();
  scratch.ShrinkTo(kScratchBytesMax);
}

}  // namespace liststore::cql_face
