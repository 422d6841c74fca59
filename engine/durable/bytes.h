// Numbers and texts of definitions and events, little-endian: written, and read back whatever the bytes.
#ifndef LISTSTORE_ENGINE_DURABLE_BYTES_H_
#define LISTSTORE_ENGINE_DURABLE_BYTES_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace liststore::durable {

template <typename T>
void Put(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

inline void PutText(std::string& out, std::string_view text) {
  Put(out, static_cast<uint32_t>(text.size()));
  out.append(text);
}

// Reads on from the front. What is not there reads as nothing, and ok() says so from then on.
class Input {
 public:
  explicit Input(std::string_view bytes) : rest_(bytes) {}

  template <typename T>
  T Get() {
    T value{};
    if (Has(sizeof(T))) {
      std::memcpy(&value, rest_.data(), sizeof(T));
      rest_.remove_prefix(sizeof(T));
    }
    return value;
  }
  std::string_view GetText() {
    const auto bytes = Get<uint32_t>();
    if (!Has(bytes)) return {};
    const std::string_view text = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return text;
  }
  // A number of things that take `bytes_min` each at least: no more than there can be.
  uint32_t GetCount(size_t bytes_min) {
    const auto count = Get<uint32_t>();
    if (count > rest_.size() / bytes_min) ok_ = false;
    return ok_ ? count : 0;
  }

  bool ok() const { return ok_; }
  // All was read, and was there.
  bool IsAtEnd() const { return ok_ && rest_.empty(); }

 private:
  bool Has(size_t bytes) {
    if (rest_.size() < bytes) ok_ = false;
    return ok_;
  }

  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace liststore::durable

#endif  // LISTSTORE_ENGINE_DURABLE_BYTES_H_
