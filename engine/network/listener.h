// Listener: an address and port where clients connect.
#ifndef LISTSTORE_ENGINE_NETWORK_LISTENER_H_
#define LISTSTORE_ENGINE_NETWORK_LISTENER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "engine/network/descriptor.h"
#include "engine/runtime/event_loop.h"

namespace liststore::network {

// Accepts on one loop and hands the sockets on. When the process runs out of descriptors, or the heap
// refuses, it waits a little and goes on: clients wait in the kernel's queue meanwhile.
class Listener {
 public:
  // The other end of a connected socket.
  struct Peer {
    std::string address;  // 4 or 16 bytes, IPv4 mapped into IPv6 is IPv4; empty: it has gone
    uint16_t port = 0;
  };
  // Takes over a connected, non-blocking socket; runs on the loop.
  using Accept = std::function<void(Descriptor socket, const Peer& peer)>;

  // Binds and listens; clients may connect from now on, and are accepted once the loop runs.
  // `address` is IPv4 or IPv6, or "localhost" ("::" takes IPv4 too); `port` 0 is any free one.
  // InvalidArgument: no such address. AlreadyExists: the port is in use. FailedPrecondition: the
  // kernel refuses otherwise; the message says why. `loop` outlives the listener.
  static absl::StatusOr<std::unique_ptr<Listener>> Open(runtime::EventLoop& loop,
                                                        const std::string& address, uint16_t port,
                                                        Accept accept);
  // The loop has ended, or has not been started.
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  // Begins to accept. Before the loop starts, or on it.
  void Start();
  // Goes on where the heap had nothing to wait for clients with. On the loop, now and then.
  void Tick();
  // Accepts what has connected so far, then closes the port. On the loop.
  void Close();

  uint16_t port() const;

 private:
  struct Impl;
  explicit Listener(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

// How many files the process may have open (RLIMIT_NOFILE). Whoever owns the process raises it.
uint64_t FileLimit();

}  // namespace liststore::network

#endif  // LISTSTORE_ENGINE_NETWORK_LISTENER_H_
