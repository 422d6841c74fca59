// Connection: one client's socket. Reads, lets the session answer, writes; knows when not to read.
#ifndef LISTSTORE_ENGINE_NETWORK_CONNECTION_H_
#define LISTSTORE_ENGINE_NETWORK_CONNECTION_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "engine/base/output_buffer.h"
#include "engine/network/admission.h"
#include "engine/network/answer_gate.h"
#include "engine/network/client_budget.h"
#include "engine/network/descriptor.h"
#include "engine/network/queue_age.h"
#include "engine/network/session.h"
#include "engine/network/tls.h"
#include "engine/runtime/event_loop.h"

namespace liststore::network {

// What the connections of a loop use in turn, and whom they tell that they are over. Owned by their
// group; the loop's thread only.
struct LoopShare {
  runtime::EventLoop& loop;
  const SessionLimits& limits;
  ClientBudget& budget;
  ClientCounters& counters;
  // As of the last look at the clock, about a second ago at most.
  Instant now;
  // A look at the clock.
  const std::function<Instant()>& clock;
  LoopQueue queue = {};
  // Connection::kReadBufferBytes bytes.
  std::unique_ptr<char[]> read_buffer;
  // Empty between two turns.
  OutputBuffer answers;
  // Of TLS: what the socket has sent, kReadBufferBytes too, made for the first who needs it; and
  // answers encrypted, empty between two turns.
  std::unique_ptr<char[]> received;
  OutputBuffer encrypted;
  // A connection whose answers wait at the gate, and the number that it has there.
  struct AtGate {
    uint64_t number = 0;
    uint64_t id = 0;
  };
  // By which answers leave; nullptr: they just do.
  AnswerGate* gate = nullptr;
  std::deque<AtGate> at_gate = {};  // by their numbers
  size_t entered = 0;               // since the gate's last round was closed
  // Connections whose handshakes of TLS go on, in the order in which they asked. The first step of one is
  // a signature, up to some milliseconds: between two of them everybody else has a turn. Those that
  // have begun do not wait behind those that have not: many who come at once are let in one by one.
  struct Handshakes {
    std::deque<uint64_t> fresh = {};
    std::deque<uint64_t> begun = {};
  };
  Handshakes handshakes = {};
  // Somebody is in `handshakes`.
  std::function<void()> go_on_with_handshakes;
  // Destroys the connection.
  std::function<void(uint64_t id)> remove;
  // More is held than may be: who holds most is to end.
  std::function<void()> make_room;
};

// Owned by its group, used on the group's loop only. A turn is: wait until the socket is readable,
// read once into the loop's buffer, let the session answer all whole requests, write once. What the
// socket does not take stays here, and nothing is read until it is gone: a client that does not
// read its answers is not heard either. Idle: about 600 bytes, its session, and no buffers. What it
// holds is in the budget; where that is short it waits before it reads on. All bytes of the session
// go through Read and Send, all of the socket through Receive and Write: with TLS its channel stands
// between these, and a turn is one call of the socket each way as well.
//
// Invariants:
//  (1) nothing is read or answered while `rest_` has bytes;
//  (2) an open connection waits for something: to read, to write, for a timer (of its session, or
//      until there may be room) or for its turn; with answers at the gate for a timer at least, which
//      calls it back when it is closed;
//  (3) it is removed from its group only when it waits for nothing any more, since what it waits
//      for calls it back;
//  (4) `leftover_` holds less than one request, unless the session waits for a turn or a time;
//  (5) what the channel has to say by itself, it says before the connection waits.
class Connection final : private Client {
 public:
  // One request may need more than the loop's buffer: it is gathered in memory of its own.
  static constexpr size_t kReadBufferBytes = size_t{64} << 10;

  // Takes over `socket`, a connected and non-blocking stream socket. `share` outlives the
  // connection. `tls`: nullptr for plain bytes.
  Connection(LoopShare& share, uint64_t id, Descriptor socket, Admission::Ticket ticket,
             std::unique_ptr<TlsChannel> tls);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Before everything else. False, or std::bad_alloc: the socket is of no use; the connection is to
  // be dropped.
  [[nodiscard]] bool Start(SessionFactory& factory);
  // Answers what has arrived so far, then says goodbye: no more writes, and the client has a moment
  // to close its side.
  void Finish();
  // Closes without regard to what is under way.
  void Abort();
  // The gate's `number` has passed: what waited there is written, and the connection may be gone.
  // `at_once`: when the round was closed, and nothing was waited for.
  void PassGate(uint64_t number, bool at_once);
  // Its turn among the handshakes has come. False: it has ended meanwhile, or its client has gone, which
  // costs nothing; in any case the connection may be gone.
  bool TakeHandshakeTurn();
  // Ends what has taken too long, as of the share's clock, or is condemned.
  void CheckTimes();
  void EndIfCondemned();

 private:
  struct Socket;

  // What the loop keeps of its output buffer after a large answer.
  static constexpr size_t kOutKeptBytesMax = size_t{256} << 10;

  void Push(std::string_view bytes) override;
  void Disconnect() override;
  std::optional<TlsFacts> tls() const override;
  void Wake() override;

  // --- What is waited for
  void WaitReadable();
  void WaitWritable();
  // Until `at`; kNever: no more.
  void SetTimer(Instant at);
  void WaitForTimer();
  // Until others have had theirs.
  void WaitForTurn();
  // The same until it is its turn among the handshakes.
  void WaitForHandshakeTurn();
  // What a turn is for, once it has come.
  void TakeTurn();
  // Does the work of a callback. Where the heap refuses, this connection ends, and no other.
  template <typename Work>
  void Guarded(Work&& work);
  // Waits for what the state asks for: to write the rest, the end, or more to read.
  void Arm();
  bool WaitsForNothing() const;
  // Last in every callback: the connection may be gone after it.
  void EndCallback();
  // Enters what is held into the budget.
  void Settle();
  // There is no room for what the client still sends: looks again after a moment.
  void WaitForRoom();

  // --- What is done then
  void OnReadable();
  void OnWritable();
  // What is left of the answers, and then what is owed. `waited`: for the client, or for a gate.
  void SendRest(bool waited);
  void OnTimer();
  // Reads once: into the loop's buffer after what was left over, or, when a request does not fit
  // there, into its own memory. False: there was nothing to read, or the connection has ended.
  bool ReadAndAnswer();
  bool ReadIntoLeftover();
  // Lets the session have `received` and writes what it answers; returns what it dealt with.
  size_t Answer(std::string_view received);
  void AnswerLeftover();
  // The session waits for bytes, and nothing comes before them.
  bool MayRead() const;
  // The client has ended its side, whatever it has sent before.
  bool HasHungUp();
  // The client is known, to its session and to TLS.
  bool IsEstablished() const;
  // Before answers are sent that speak of writes: they may have to wait.
  void EnterGate();
  // Writes all of `answers`, or keeps the rest. Leaves `answers` empty.
  void Send(OutputBuffer& answers);
  // The same of what goes to the socket as it is.
  void SendBytes(OutputBuffer& out);
  // How much of `bytes` the socket took at once; closes on errors.
  size_t Write(std::string_view bytes);
  // What the client has sent, up to `bytes`; closes on errors, and at the end. 0: nothing.
  size_t Read(char* to, size_t bytes);
  // The same of the socket.
  size_t Receive(char* to, size_t bytes);
  // The same of the channel: what it has kept, else what the socket has.
  size_t ReadTls(char* to, size_t bytes);
  // What may be received at once; 0 as well when that is not known.
  size_t BytesInSocket() const;
  // The channel gives nothing more, or the socket.
  void NoteEndOfTls();
  void SayEndOfTls();
  void SendEncrypted(OutputBuffer& answers);
  // Replaces `bytes` by what stands for them in the loop's buffer. False: the connection is closed.
  bool EncryptPushed(std::string_view& bytes);
  void SendPushed(std::string_view bytes);
  void AnswerLast();
  // A read of the socket got `bytes` of `asked`.
  void NoteAge(size_t bytes, size_t asked);
  // The client has kept us from reading: what waits is as if it had come now.
  void RestartAge();
  // How long what is dealt with has waited, if it is to be refused for it; else 0.
  std::chrono::nanoseconds RefusedFor();
  // Reads and forgets, so that closing does not make the kernel reset the connection while the
  // client has not yet read its last answer.
  void Drain();
  void SayGoodbye();
  void Close();

  LoopShare& share_;
  const uint64_t id_;
  const Admission::Ticket ticket_;
  const std::unique_ptr<Socket> socket_;
  const std::unique_ptr<TlsChannel> tls_;  // nullptr: none
  std::unique_ptr<Session> session_;       // set by Start
  std::optional<ClientAccount> account_;   // set by Start

  OutputBuffer leftover_;     // received, not yet dealt with
  size_t bytes_missing_ = 0;  // of the request at its front, at least; 0: unknown
  OutputBuffer rest_;         // answered, not yet written
  size_t rest_sent_ = 0;      // bytes of it that are
  uint64_t gate_number_ = 0;  // until which it waits at the gate; 0: it does not
  size_t pushed_bytes_ = 0;   // bytes of it that nobody asked for
  size_t drained_bytes_ = 0;
  size_t session_bytes_ = 0;  // that the session holds
  bool owes_answers_ = false;

  const Instant begun_at_;
  Instant heard_at_;                 // when a byte came last
  Instant taken_at_;                 // with `rest_`: when the socket took a byte last
  Instant room_missed_at_ = kNever;  // since when it waits for room
  Instant hung_up_at_ = kNever;      // it was seen, while nothing is read
  QueueAge age_;                     // of what is read
  StandingQueue standing_;           // in the socket

  Session::WaitsFor session_waits_for_ = Session::WaitsFor::kBytes;
  bool due_ = false;     // the session's time has come while `rest_` has bytes
  bool stops_ = false;   // reads no more; the session knows
  bool ends_ = false;    // to be closed when `rest_` is gone
  bool drains_ = false;  // the write side is shut
  bool closed_ = false;
  bool waits_to_read_ = false;
  bool waits_to_write_ = false;
  bool waits_for_timer_ = false;
  bool waits_for_turn_ = false;
  Instant timer_at_ = kNever;  // what the session wakes at; with `drains_`, the end
  std::chrono::milliseconds drain_time_;
};

}  // namespace liststore::network

#endif  // LISTSTORE_ENGINE_NETWORK_CONNECTION_H_
