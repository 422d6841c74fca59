#include "engine/base/loopback_congestion.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cstring>
#include <string_view>

namespace liststore {
namespace {

constexpr char kReno[] = "reno";
// In an IPv6 address that stands for an IPv4 one.
constexpr size_t kMappedAt = 12;
constexpr char kLoopbackNet = 127;  // the first byte of all IPv4 addresses of it

bool AskForReno(int socket) {
  return setsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, kReno, sizeof(kReno) - 1) == 0;
}

// An end of a connection: 4 or 16 bytes, an IPv4 address in an IPv6 one as itself; none: no TCP.
class EndAddress {
 public:
  template <typename NameOf>
  EndAddress(int connected, NameOf&& name_of) {
    socklen_t size = sizeof(storage_);
    if (name_of(connected, reinterpret_cast<sockaddr*>(&storage_), &size) != 0) return;
    if (storage_.ss_family == AF_INET) {
      bytes_ = BytesOf(reinterpret_cast<const sockaddr_in*>(&storage_)->sin_addr);
    } else if (storage_.ss_family == AF_INET6) {
      const in6_addr& v6 = reinterpret_cast<const sockaddr_in6*>(&storage_)->sin6_addr;
      bytes_ = BytesOf(v6);
      is_loopback_v6_ = IN6_IS_ADDR_LOOPBACK(&v6);
      if (IN6_IS_ADDR_V4MAPPED(&v6)) bytes_.remove_prefix(kMappedAt);
    }
  }
  EndAddress(const EndAddress&) = delete;
  EndAddress& operator=(const EndAddress&) = delete;

  bool IsHereAs(const EndAddress& own) const {
    if (bytes_.empty()) return false;
    const bool is_loopback =
        is_loopback_v6_ || (bytes_.size() == sizeof(in_addr) && bytes_[0] == kLoopbackNet);
    return is_loopback || bytes_ == own.bytes_;
  }

 private:
  template <typename Address>
  static std::string_view BytesOf(const Address& address) {
    return {reinterpret_cast<const char*>(&address), sizeof(address)};
  }

  sockaddr_storage storage_ = {};
  std::string_view bytes_;
  bool is_loopback_v6_ = false;
};

}  // namespace

bool UseLoopbackCongestion(int connected) {
  const EndAddress peer(connected, getpeername);
  const EndAddress own(connected, getsockname);
  return peer.IsHereAs(own) && AskForReno(connected);
}

bool UseLoopbackCongestionOfAccepted(int listening) { return AskForReno(listening); }

}  // namespace liststore
