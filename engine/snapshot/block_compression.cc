#include "engine/snapshot/block_compression.h"

#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <cstdint>
#include <new>

#include "absl/strings/str_cat.h"
#include "engine/base/big_endian.h"
#include "engine/base/check.h"
#include "engine/snapshot/saved_format.h"

namespace liststore::snapshot {
namespace {

// Of the levels the quickest that is no trade of size against time: loading is to be no slower than a disk.
constexpr int kLevel = 1;
// What a frame may make its reader remember, as a power of 2; those of kLevel take less.
constexpr int kWindowLog = 23;
// Memory for a payload grows no further than this ahead of its bytes.
constexpr size_t kPlainPieceBytes = size_t{1} << 20;

size_t Checked(size_t result) {
  LS_CHECK(!ZSTD_isError(result), "zstd takes its own parameters");
  return result;
}

}  // namespace

void BlockCompressor::Free::operator()(ZSTD_CCtx_s* context) const { ZSTD_freeCCtx(context); }
void BlockDecompressor::Free::operator()(ZSTD_DCtx_s* context) const { ZSTD_freeDCtx(context); }

bool BlockCompressor::Compress(std::string_view payload, size_t head, std::string& block) {
  if (payload.size() < kCompressedBytesMin) return false;
  if (context_ == nullptr) {
    context_.reset(ZSTD_createCCtx());
    if (context_ == nullptr) throw std::bad_alloc();
    Checked(ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel, kLevel));
  }
  constexpr size_t kLengthBytes = sizeof(uint32_t);
  // No room for more than what pays.
  const size_t room = payload.size() - payload.size() / 16 - kLengthBytes;
  block.resize(head + kLengthBytes + room);
  const size_t bytes = ZSTD_compress2(context_.get(), block.data() + head + kLengthBytes, room,
                                      payload.data(), payload.size());
  if (ZSTD_isError(bytes)) return false;
  StoreNative(block.data() + head, static_cast<uint32_t>(payload.size()));
  block.resize(head + kLengthBytes + bytes);
  return true;
}

std::string BlockDecompressor::Decompress(std::string_view compressed, std::string& plain,
                                          size_t& plain_bytes) {
  if (context_ == nullptr) {
    context_.reset(ZSTD_createDCtx());
    if (context_ == nullptr) throw std::bad_alloc();
    Checked(ZSTD_DCtx_setParameter(context_.get(), ZSTD_d_windowLogMax, kWindowLog));
  }
  Checked(ZSTD_DCtx_reset(context_.get(), ZSTD_reset_session_only));
  if (compressed.size() < sizeof(uint32_t)) return "a compressed block without a length";
  const size_t expected = LoadNative<uint32_t>(compressed.data());
  if (expected > kPayloadBytesMax) {
    return absl::StrCat("a block of ", expected, " bytes exceeds ", kPayloadBytesMax);
  }
  ZSTD_inBuffer in{compressed.data() + sizeof(uint32_t), compressed.size() - sizeof(uint32_t), 0};
  size_t left = 1;
  for (size_t done = 0; left != 0;) {
    // One more than is expected, so that a frame that has more is told.
    const size_t piece = std::min(expected + 1 - done, std::max(kPlainPieceBytes, done));
    if (plain.size() < done + piece) plain.resize(done + piece);
    ZSTD_outBuffer out{plain.data() + done, piece, 0};
    left = ZSTD_decompressStream(context_.get(), &out, &in);
    if (ZSTD_isError(left)) {
      if (ZSTD_getErrorCode(left) == ZSTD_error_memory_allocation) throw std::bad_alloc();
      return absl::StrCat("a block that does not decompress: ", ZSTD_getErrorName(left));
    }
    done += out.pos;
    plain_bytes = done;
    if (done > expected || (left != 0 && out.pos < piece)) break;
  }
  if (left == 0 && plain_bytes == expected && in.pos == in.size) return "";
  return absl::StrCat("a compressed block of ", expected, " bytes that has ", plain_bytes,
                      left != 0          ? " or more"
                      : in.pos < in.size ? ", and bytes behind it"
                                         : "");
}

}  // namespace liststore::snapshot
