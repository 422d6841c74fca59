// A server of one thread by hand on epoll: the sockets of a server, and nothing else of it. What answers
// frames over it as fast as it can shows what sockets and system calls leave to any server.
#ifndef LISTSTORE_BENCH_PEERS_FRAME_LOOP_H_
#define LISTSTORE_BENCH_PEERS_FRAME_LOOP_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/base/output_buffer.h"

namespace liststore {

// What requests are answered with.
class FrameAnswers {
 public:
  virtual ~FrameAnswers() = default;
  // Appends the answers to the whole requests at the front of `received`; returns how many bytes these
  // were. nullopt: what comes next is no request, and the connection ends.
  virtual std::optional<size_t> Answer(std::string_view received, OutputBuffer& out) = 0;
};

// Of each connection what has arrived, up to 64 KiB at a time, is answered at once: one recv, one buffer,
// one send. A connection that does not take its answers is not read from until it has. Sockets are set as
// our server sets its own. One thread.
class FrameLoop {
 public:
  // On a free port of 127.0.0.1. `answers` outlives it.
  static absl::StatusOr<std::unique_ptr<FrameLoop>> Listen(FrameAnswers& answers);
  ~FrameLoop();
  FrameLoop(const FrameLoop&) = delete;
  FrameLoop& operator=(const FrameLoop&) = delete;

  uint16_t port() const { return port_; }

  // Serves until the other end of `input`, a pipe, a socket or a terminal, is closed. What is read from it
  // until then counts for nothing.
  absl::Status Run(int input);

 private:
  struct Connection;

  FrameLoop(FrameAnswers& answers, int listening, int epoll, uint16_t port);
  void Accept();
  // False: the connection has ended.
  bool Receive(Connection& connection);
  bool Send(Connection& connection);
  void Watch(int fd, uint32_t events, int operation) const;
  void Serve(Connection& connection, uint32_t events);

  FrameAnswers& answers_;
  const int listening_;
  const int epoll_;
  const uint16_t port_;
  std::unordered_map<int, std::unique_ptr<Connection>> connections_;  // by descriptor
};

}  // namespace liststore

#endif  // LISTSTORE_BENCH_PEERS_FRAME_LOOP_H_
