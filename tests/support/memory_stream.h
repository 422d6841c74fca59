// A ByteSource and a ByteSink in memory.
#ifndef LISTSTORE_TESTS_SUPPORT_MEMORY_STREAM_H_
#define LISTSTORE_TESTS_SUPPORT_MEMORY_STREAM_H_

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

#include "engine/disk/byte_stream.h"

namespace liststore::testing {

// Borrows its bytes.
class MemorySource final : public disk::ByteSource {
 public:
  explicit MemorySource(std::string_view bytes) : rest_(bytes) {}
  absl::StatusOr<size_t> Read(char* to, size_t bytes) override {
    const size_t read = std::min(bytes, rest_.size());
    if (read > 0) std::memcpy(to, rest_.data(), read);
    rest_.remove_prefix(read);
    return read;
  }

 private:
  std::string_view rest_;
};

class MemorySink final : public disk::ByteSink {
 public:
  absl::Status Append(std::string_view more) override {
    bytes.append(more);
    return absl::OkStatus();
  }
  std::string bytes;
};

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_SUPPORT_MEMORY_STREAM_H_
