// Connection: one client's socket. Reads, lets the dispatcher answer, writes; knows when not to
// read.
#ifndef LISTSTORE_ENGINE_FACES_CQL_CONNECTION_H_
#define LISTSTORE_ENGINE_FACES_CQL_CONNECTION_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "engine/base/output_buffer.h"
#include "engine/execute/request_handler.h"
#include "engine/faces/cql/connection_state.h"
#include "engine/faces/cql/event_hub.h"

namespace liststore {

class ConnectionGroup;

// Owned by its group, used on the group's loop only. A turn is: wait until the socket is readable,
// read once into the loop's buffer, answer all whole frames, write once. What the socket does not
// take stays here, and nothing is read until it is gone: a client that does not read its answers
// is not heard either. Idle: about 600 bytes and no buffers.
//
// Invariants:
//  (1) nothing is read or answered while `rest_` has bytes;
//  (2) an open connection waits for something: to read, to write, or for a timer;
//  (3) it is removed from its group only when it waits for nothing any more, since what it waits
//      for calls it back;
//  (4) `leftover_` holds less than one frame, unless `unanswered_`.
class Connection {
 public:
  // One frame may need more than the loop's buffer: it is gathered in memory of its own.
  static constexpr size_t kReadBufferBytes = size_t{64} << 10;

  // Takes over `fd`, a connected and non-blocking stream socket.
  Connection(ConnectionGroup& group, uint64_t id, int fd, uint32_t shard);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // False: the socket is of no use; the connection is to be dropped.
  [[nodiscard]] bool Start();
  // Sends an EVENT if the connection is registered for its type. A client that leaves more than
  // kPushedBytesMax of events unread is disconnected.
  void Push(const PushedEvent& event);
  // Answers what has arrived so far, then says goodbye: no more writes, and the client has a moment
  // to close its side.
  void Finish();
  // Closes without regard to what is under way.
  void Abort();

 private:
  struct Socket;

  static constexpr size_t kPushedBytesMax = size_t{1} << 20;
  // What the loop keeps of its output buffer after a large answer.
  static constexpr size_t kOutKeptBytesMax = size_t{256} << 10;

  // --- What is waited for
  void WaitReadable();
  void WaitWritable();
  // Waits for what the state asks for: to write the rest, the end, or more to read.
  void Arm();
  bool WaitsForNothing() const;
  // Last in every callback: the connection may be gone behind it.
  void Settle();

  // --- What is done then
  void OnReadable();
  void OnWritable();
  // Reads once: into the loop's buffer behind what was left over, or, when a frame does not fit
  // there, into its own memory. False: there was nothing to read, or the connection has ended.
  bool ReadAndAnswer();
  bool ReadIntoLeftover();
  // Answers the whole frames of `received` and writes; returns what it dealt with.
  size_t Answer(std::string_view received);
  void AnswerLeftover();
  // Writes all of `out`, or keeps the rest. Leaves `out` empty.
  void Send(OutputBuffer& out);
  // How much of `bytes` the socket took at once; closes on errors.
  size_t Write(std::string_view bytes);
  // Reads and forgets, so that closing does not make the kernel reset the connection while the
  // client has not yet read its last answer.
  void Drain();
  void SayGoodbye();
  void Close();

  // --- Answers that go out later
  void Delay(std::vector<DelayedAnswer> answers);
  // Waits for the first of them.
  void WaitForDelayed();
  // Sends those whose time has come; all of them when the connection is to end.
  void SendDelayed();
  // Behind what is not sent yet, or at once.
  void SendBehindRest(std::string_view bytes);

  ConnectionGroup& group_;
  const uint64_t id_;
  const std::unique_ptr<Socket> socket_;
  ConnectionState state_;

  OutputBuffer leftover_;     // received, not yet dealt with
  size_t bytes_missing_ = 1;  // of the frame at its front, at least
  OutputBuffer rest_;         // answered, not yet written
  size_t rest_sent_ = 0;      // bytes of it that are
  size_t pushed_bytes_ = 0;   // bytes of it that are events

  bool unanswered_ = false;  // whole frames in `leftover_` wait until `rest_` is gone
  bool ends_ = false;        // to be closed when `rest_` is gone
  bool drains_ = false;      // the write side is shut
  bool closed_ = false;
  bool waits_to_read_ = false;
  bool waits_to_write_ = false;
  bool waits_for_timer_ = false;
  // Made when the first answer is delayed.
  struct DelayedAnswers;
  std::unique_ptr<DelayedAnswers> delayed_;
  std::chrono::milliseconds drain_time_;
  size_t drained_bytes_ = 0;
};

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_FACES_CQL_CONNECTION_H_
