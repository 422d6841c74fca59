// Descriptor: a file descriptor that one owner closes.
#ifndef LISTSTORE_ENGINE_NETWORK_DESCRIPTOR_H_
#define LISTSTORE_ENGINE_NETWORK_DESCRIPTOR_H_

#include <unistd.h>

#include <utility>

namespace liststore::network {

// Closes when it goes, also where the heap refuses what was to take it over.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const { return fd_; }
  // Another closes it.
  int Release() { return std::exchange(fd_, -1); }

 private:
  int fd_ = -1;
};

}  // namespace liststore::network

#endif  // LISTSTORE_ENGINE_NETWORK_DESCRIPTOR_H_
