// Session: one client's conversation in one protocol. What a face implements and the network calls:
// the network moves bytes and knows limits, a session knows what the bytes mean.
#ifndef LISTSTORE_ENGINE_NETWORK_SESSION_H_
#define LISTSTORE_ENGINE_NETWORK_SESSION_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/output_buffer.h"
#include "engine/network/tls.h"

namespace liststore::network {

using Instant = std::chrono::steady_clock::time_point;
inline constexpr Instant kNever = Instant::max();

// What the network grants every session of a server, whatever its protocol. Constant while the
// server runs; read by every loop.
struct SessionLimits {
  // Bytes of a request that has not come whole. A session refuses a longer one in its protocol's
  // words; one that waits for more than this and a read (64 KiB) is disconnected.
  size_t input_bytes_max = size_t{256} << 20;
  // Answers of one call, in bytes: with more than these the turn is spent. What a client that does
  // not read can cost is this and the answers of one more group of requests.
  size_t output_bytes_max = size_t{1} << 20;
  // Bytes that were pushed and that the client has not read; with more it is disconnected.
  size_t pushed_bytes_max = size_t{1} << 20;
  // Requests in flight: taken out of the input and not answered, but for answers that are delayed
  // on purpose, or of requests that take long.
  size_t requests_max = 64;
  // How long a session may work until others have their turn.
  std::chrono::nanoseconds turn_time = std::chrono::nanoseconds::max();
  // From connecting until the session says that its client is known; what takes longer ends.
  std::chrono::nanoseconds handshake_time = std::chrono::seconds(10);
  // Without a byte from a client that is owed nothing; zero: no limit.
  std::chrono::nanoseconds idle_time = std::chrono::nanoseconds(0);
  // In which a client takes nothing of what it is answered.
  std::chrono::nanoseconds unread_time = std::chrono::seconds(60);
  // Requests that have waited longer to be read are refused, where the queue that they were in has
  // been as long as that for a while (queue_age.h); max(): none are.
  std::chrono::nanoseconds queue_time_max = std::chrono::nanoseconds::max();
};

// What a session has in one call: on the loop's stack, of the loop's thread.
struct Turn {
  // To be appended to. May hold answers of this turn already.
  OutputBuffer& answers;
  const SessionLimits& limits;
  Instant ends = kNever;
  // Requests that carry something to execute are refused, in the protocol's words.
  bool is_overloaded = false;
  // With that: they have waited so long, which is too long. 0: too much is held for clients, or for
  // this one.
  std::chrono::nanoseconds waited{0};

  // When it was begun, right after what it deals with was read.
  Instant begun_at() const {
    return ends == kNever ? std::chrono::steady_clock::now() : ends - limits.turn_time;
  }
  bool TimeIsOver() const { return ends != kNever && std::chrono::steady_clock::now() >= ends; }
  // Asked after each group of requests, of which one is done in any case: a session then stops and
  // waits for a turn.
  bool IsSpent() const { return answers.size() > limits.output_bytes_max || TimeIsOver(); }
};

// Owned by its connection, which calls it on its loop's thread only, one call at a time, and
// destroys it some time after the socket is closed. OnBytes is never called while the client has
// answers to take: a client that does not read is not heard either. Never blocks, never throws.
class Session {
 public:
  enum class WaitsFor : uint8_t {
    kBytes,  // more
    kTurn,   // its answers to be written, and where time is limited others to have their turn
    kTime,   // `wakes_at` and nothing else; nothing is read until then
    kEnd,    // nothing: the connection ends when its answers are written
  };
  struct Result {
    // Bytes that were dealt with, from the front. The session gets the others again. Of no meaning
    // with kEnd.
    size_t consumed = 0;
    WaitsFor waits_for = WaitsFor::kBytes;
    // With kBytes: what remains lacks at least so much; 0: the session cannot tell. With more than
    // the loop's buffer it is called when all of this has come.
    size_t bytes_missing = 0;
    // To be called again then, whatever it waits for beside. Holds until the next call.
    Instant wakes_at = kNever;
    // What the session keeps for its client until the next call, beside some KiB.
    size_t held_bytes = 0;
    // The client waits for an answer that has yet to come: it is not idle.
    bool owes_answers = false;
    // Something was written that the answers speak of: they leave by the server's gate, if it has
    // one (answer_gate.h).
    bool has_written = false;
  };

  virtual ~Session() = default;

  // Deals with the whole requests at the front of `received` and appends the answers; then with
  // what else is due. Called when something that it waits for has come; `received`, valid during
  // the call, is all that is not consumed, and may be the same as before, or nothing.
  virtual Result OnBytes(std::string_view received, const Turn& turn) = 0;
  // The server stops: from now on nothing is delayed. OnBytes is called once more, with what
  // remains, and as long as it waits for a turn; then the connection ends.
  virtual void OnStop() = 0;
  // The client has said who it is, and may stay. Asked about once a second.
  virtual bool IsEstablished() const { return true; }
};

// Where a connection leads: 4 or 16 bytes each; IPv4 mapped into IPv6 is IPv4.
struct ClientAddress {
  std::string peer;
  uint16_t peer_port = 0;
  std::string local;  // this end
};

// The other end of a connection, as its session sees it. Owned by the connection, outlives the
// session. The loop's thread only.
class Client {
 public:
  // Sends what no request asked for, after everything that has been answered; nothing when the
  // connection is to end. Not from within OnBytes, which appends.
  virtual void Push(std::string_view bytes) = 0;
  // Ends the connection, counted as one that ended for memory: there was none for what the client was
  // to hear. Not from within OnBytes; takes no memory.
  virtual void Disconnect() = 0;
  // How its bytes are encrypted; nullopt: they are not. Once something of it has come.
  virtual std::optional<TlsFacts> tls() const = 0;
  // Calls the session again, as soon as the client has taken its answers: something that it waits
  // for beside bytes has come. Not from within OnBytes. A connection may be over afterwards.
  virtual void Wake() = 0;

 protected:
  ~Client() = default;
};

// One for each loop and face, owned by the face; outlives the server. Called on the loop's thread
// only, so that what the sessions of a loop share needs no lock.
class SessionFactory {
 public:
  virtual ~SessionFactory() = default;
  // For a client that has just connected. Never null.
  virtual std::unique_ptr<Session> Make(Client& client, ClientAddress address) = 0;
  // For one that is not served because of `refusal`: it is told in the protocol's words, then the
  // connection ends. Null: there are no such words.
  virtual std::unique_ptr<Session> MakeRefusing(std::string /*refusal*/) { return nullptr; }
};

}  // namespace liststore::network

#endif  // LISTSTORE_ENGINE_NETWORK_SESSION_H_
