// Payloads of blocks, compressed by zstd: 4 bytes with the payload's length, then one frame.
#ifndef LISTSTORE_ENGINE_SNAPSHOT_BLOCK_COMPRESSION_H_
#define LISTSTORE_ENGINE_SNAPSHOT_BLOCK_COMPRESSION_H_

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

namespace liststore::snapshot {

// Shorter payloads are not worth a frame.
inline constexpr size_t kCompressedBytesMin = 256;

// One thread. About 1 MiB once it is used. Throws std::bad_alloc.
class BlockCompressor {
 public:
  // Behind the first `head` bytes of `block`, which are left as they are, the payload compressed. False: it
  // would be no shorter, and what `block` holds is of no use. O(bytes), some 300 MB a second.
  bool Compress(std::string_view payload, size_t head, std::string& block);

 private:
  struct Free {
    void operator()(ZSTD_CCtx_s* context) const;
  };
  std::unique_ptr<ZSTD_CCtx_s, Free> context_;
};

// One thread. Throws std::bad_alloc.
class BlockDecompressor {
 public:
  // The payload, in `plain`, which is used again from call to call and grows no further ahead than what has
  // been decompressed. Empty: done. Else what is wrong with the bytes. O(bytes of the payload).
  std::string Decompress(std::string_view compressed, std::string& plain, size_t& plain_bytes);

 private:
  struct Free {
    void operator()(ZSTD_DCtx_s* context) const;
  };
  std::unique_ptr<ZSTD_DCtx_s, Free> context_;
};

}  // namespace liststore::snapshot

#endif  // LISTSTORE_ENGINE_SNAPSHOT_BLOCK_COMPRESSION_H_
