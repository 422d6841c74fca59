#include "engine/protocol/compression.h"

#include <lz4.h>
#include <snappy.h>

#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "engine/base/check.h"
#include "engine/base/strings.h"
#include "engine/protocol/frame.h"

namespace liststore::protocol {
namespace {

constexpr size_t kLz4LengthBytes = 4;

static_assert(kFrameBodyBytesMax <= LZ4_MAX_INPUT_SIZE, "every body can be compressed");

ProtocolError Refused(std::string message) {
  return {ErrorCode::kProtocolError, std::move(message)};
}

ProtocolError TooLong(size_t body_bytes, uint32_t body_bytes_max) {
  return Refused(absl::StrCat("compressed frame: the body would have ", body_bytes,
                              " bytes, at most ", body_bytes_max, " are allowed"));
}

std::optional<ProtocolError> DecompressLz4(std::string_view compressed, uint32_t body_bytes_max,
                                           OutputBuffer& body) {
  if (compressed.size() < kLz4LengthBytes) {
    return Refused(absl::StrCat("truncated frame: expected ", kLz4LengthBytes, " bytes, length is ",
                                compressed.size()));
  }
  const uint32_t body_bytes = LoadBigEndian32(compressed.data());
  if (body_bytes > body_bytes_max) return TooLong(body_bytes, body_bytes_max);
  compressed.remove_prefix(kLz4LengthBytes);
  // One byte more, so that there is an address where the body is empty.
  body.Reserve(body_bytes + 1);
  char* const to = body.Extend(body_bytes);
  const int written = LZ4_decompress_safe(
      compressed.data(), to, static_cast<int>(compressed.size()), static_cast<int>(body_bytes));
  // Some clients send an empty body as its length alone.
  const bool empty = body_bytes == 0 && compressed.empty();
  if (!empty && written != static_cast<int>(body_bytes)) {
    return Refused("compressed frame: malformed LZ4 block");
  }
  return std::nullopt;
}

std::optional<ProtocolError> DecompressSnappy(std::string_view compressed, uint32_t body_bytes_max,
                                              OutputBuffer& body) {
  size_t body_bytes = 0;
  if (!snappy::GetUncompressedLength(compressed.data(), compressed.size(), &body_bytes)) {
    return Refused("compressed frame: malformed Snappy block");
  }
  if (body_bytes > body_bytes_max) return TooLong(body_bytes, body_bytes_max);
  body.Reserve(body_bytes + 1);
  if (!snappy::RawUncompress(compressed.data(), compressed.size(), body.Extend(body_bytes))) {
    return Refused("compressed frame: malformed Snappy block");
  }
  return std::nullopt;
}

}  // namespace

std::optional<Compression> ParseCompression(std::string_view name) {
  if (absl::EqualsIgnoreCase(ToAbsl(name), "lz4")) return Compression::kLz4;
  if (absl::EqualsIgnoreCase(ToAbsl(name), "snappy")) return Compression::kSnappy;
  return std::nullopt;
}

std::optional<ProtocolError> DecompressBody(Compression compression, std::string_view compressed,
                                            uint32_t body_bytes_max, OutputBuffer& body) {
  LS_CHECK(body_bytes_max <= kFrameBodyBytesMax, "no body is longer than the protocol allows");
  LS_CHECK(compressed.size() <= kFrameBodyBytesMax, "a body came in one frame");
  body.Clear();
  switch (compression) {
    case Compression::kNone:
      return Refused("Unknown compression algorithm");
    case Compression::kLz4:
      return DecompressLz4(compressed, body_bytes_max, body);
    case Compression::kSnappy:
      return DecompressSnappy(compressed, body_bytes_max, body);
  }
  LS_UNREACHABLE("a compression is one of the protocol's");
}

void AppendCompressed(Compression compression, std::string_view body, OutputBuffer& out) {
  LS_CHECK(body.size() <= kFrameBodyBytesMax, "no body is longer than the protocol allows");
  const size_t begin = out.size();
  switch (compression) {
    case Compression::kNone:
      out.Append(body);
      return;
    case Compression::kLz4: {
      out.AppendBigEndian32(static_cast<uint32_t>(body.size()));
      const int bound = LZ4_compressBound(static_cast<int>(body.size()));
      char* const to = out.Extend(static_cast<size_t>(bound));
      const int written =
          LZ4_compress_default(body.data(), to, static_cast<int>(body.size()), bound);
      LS_CHECK(written > 0 && written <= bound, "LZ4 keeps to its bound");
      out.Truncate(begin + kLz4LengthBytes + static_cast<size_t>(written));
      return;
    }
    case Compression::kSnappy: {
      char* const to = out.Extend(snappy::MaxCompressedLength(body.size()));
      size_t written = 0;
      snappy::RawCompress(body.data(), body.size(), to, &written);
      out.Truncate(begin + written);
      return;
    }
  }
  LS_UNREACHABLE("a compression is one of the protocol's");
}

void CompressFrame(Compression compression, size_t frame, OutputBuffer& out,
                   OutputBuffer& scratch) {
  LS_CHECK(frame + kFrameHeaderBytes <= out.size(), "a frame has a header");
  constexpr size_t kFlagsAt = 1;
  constexpr size_t kLengthAt = 5;
  const size_t body_at = frame + kFrameHeaderBytes;
  const std::string_view body = out.ViewFrom(body_at);
  LS_CHECK(out.BigEndian32At(frame + kLengthAt) == body.size(), "the frame is the last, and done");
  if (compression == Compression::kNone || body.size() < kCompressedBodyBytesMin) return;

  scratch.Clear();
  AppendCompressed(compression, body, scratch);
  if (scratch.size() >= body.size()) return;
  out.Truncate(body_at);
  out.Append(scratch.view());
  out.PatchBigEndian32(frame + kLengthAt, static_cast<uint32_t>(scratch.size()));
  out.PatchByte(frame + kFlagsAt,
                static_cast<uint8_t>(out.view()[frame + kFlagsAt]) | kFrameCompressed);
}

}  // namespace liststore::protocol
