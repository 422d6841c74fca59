// Dispatcher: received bytes in, response frames out. Cuts, decompresses and decodes requests, sees
// to it that each is in its place, and hands it to what answers it.
#ifndef LISTSTORE_ENGINE_FACES_CQL_DISPATCHER_H_
#define LISTSTORE_ENGINE_FACES_CQL_DISPATCHER_H_

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/output_buffer.h"
#include "engine/execute/request_handler.h"
#include "engine/faces/cql/connection_state.h"
#include "engine/faces/cql/long_statements.h"
#include "engine/faces/cql/server_context.h"
#include "engine/network/session.h"
#include "engine/protocol/request.h"

namespace liststore::cql_face {

// One for each loop, used there only, for all of its connections in turn: it holds nothing of
// theirs between two calls. Knows nothing of sockets. Some 36 to 56 KiB, and for each of 64 requests
// what the largest seen has taken, up to some 40 KiB. Allocates nothing once it has grown.
class Dispatcher {
 public:
  struct Result {
    // Bytes that were dealt with, from the front.
    size_t consumed = 0;
    // What remains begins with a frame that lacks at least this much. Of no meaning with
    // `more_waits` or `close`.
    size_t bytes_missing = 1;
    // Stopped because the turn is spent: to be called again with what remains.
    bool more_waits = false;
    // The bytes are no frames any more, or the handler says so. What is in `out` is to be sent,
    // then the connection ends.
    bool close = false;
    // Answers that go out later, compressed where the connection compresses.
    std::vector<execute::DelayedAnswer> delayed;
    // Requests that are to be dealt with in another place. Behind one that is deferred in order
    // nothing was dealt with.
    std::vector<DeferredRequest> deferred;
    // Above 0, and with `more_waits`: not before then.
    std::chrono::nanoseconds wait{0};
  };

  // `server` outlives the dispatcher.
  explicit Dispatcher(const ServerContext& server);

  // Stops after an attempt to log in that is to be checked elsewhere (`state.login`), with
  // `more_waits`. Deals with what was postponed, then with the frames at the front of `received`, in their order;
  // QUERY, PREPARE, EXECUTE and BATCH go to the handler together, in groups of up to
  // kRequestsPerTurnMax. Appends one response for each to the turn's answers. Linear in the bytes,
  // and what the handler takes.
  Result Dispatch(std::string_view received, ConnectionState& state, const network::Turn& turn);

 private:
  Result DispatchAll(std::string_view received, ConnectionState& state, const network::Turn& turn);

  // A request between decoding and its answer.
  // Of a frame that is not compressed, with values alone, the first lines of a slot are used.
  struct alignas(64) Slot {
    protocol::Request request;
    OutputBuffer body;  // decompressed
    protocol::RequestScratch scratch;
  };
  // Memory of a slot that outlasts its request at most; a batch of 65,535 statements needs 3 MiB. All
  // slots may have met their largest request: together they keep some 2 MiB.
  static constexpr size_t kSlotElementsMax = 256;
  static constexpr size_t kSlotBodyBytesMax = size_t{8} << 10;
  // Requests of one call may take this much decompressed, and one frame more: small frames can
  // swell 255 times.
  static constexpr size_t kDecompressedBytesMax = size_t{4} << 20;

  // What Dispatch does with `frames`; returns the bytes that were dealt with, from the front.
  size_t DealWith(std::string_view frames, ConnectionState& state, const network::Turn& turn,
                  Result& result);
  // Answers the request of `frame`, or puts it among those that wait.
  void Take(const protocol::Frame& frame, ConnectionState& state, const network::Turn& turn);
  // Answers that there is no memory for it, or that it has waited too long.
  void Refuse(const protocol::FrameHeader& header, const ConnectionState& state,
              const network::Turn& turn);
  // The latter, of the requests for statements that `frames` begin with, some of them; it has to cost
  // next to nothing, so that a frame is not taken apart further than to know that it is one. Returns the
  // bytes that were dealt with.
  size_t RefuseLate(std::string_view frames, const ConnectionState& state,
                    const network::Turn& turn);
  // A header and what is ready.
  void AppendLate(const protocol::FrameHeader& header, const network::Turn& turn);
  // Makes `slot.request` of a frame, or says why that cannot be.
  std::optional<protocol::ProtocolError> Decode(const protocol::Frame& frame,
                                                const ConnectionState& state, Slot& slot);
  // Answers what needs no statements.
  void Answer(const protocol::FrameHeader& header, const protocol::Request& request,
              const protocol::ResponseContext& response, ConnectionState& state, OutputBuffer& out);
  // The handler answers what waits; its orders go into `result`. What it postpones goes behind
  // `state.postponed`.
  void Flush(ConnectionState& state, OutputBuffer& out, Result& result);
  // What the handler did not deal with: it is postponed, or deferred.
  void Keep(size_t index, ConnectionState& state, Result& result);
  static void Trim(Slot& slot);

  const ServerContext& server_;
  const std::unique_ptr<std::array<Slot, execute::kRequestsPerTurnMax>> slots_;
  std::array<execute::RequestView, execute::kRequestsPerTurnMax> pending_;
  std::array<std::string_view, execute::kRequestsPerTurnMax> pending_frames_;  // as they came
  size_t pending_count_ = 0;
  size_t decompressed_bytes_ = 0;
  OutputBuffer plain_;  // answers, while the connection compresses
  OutputBuffer compression_scratch_;
  // What those are answered who have waited `late_waited_`, and how many not counted yet were.
  std::string late_body_;
  std::chrono::nanoseconds late_waited_{0};
  uint64_t late_count_ = 0;
};

}  // namespace liststore::cql_face

#endif  // LISTSTORE_ENGINE_FACES_CQL_DISPATCHER_H_
