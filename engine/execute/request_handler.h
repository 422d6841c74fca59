// RequestHandler: the seam between connections (bytes, frames, sockets) and statements. A
// connection hands over what one read of its socket brought, together, so that the cache misses of
// many requests can overlap; the answers are appended to the connection's output.
#ifndef LISTSTORE_ENGINE_EXECUTE_REQUEST_HANDLER_H_
#define LISTSTORE_ENGINE_EXECUTE_REQUEST_HANDLER_H_

#include <chrono>
#include <span>
#include <string>
#include <vector>

#include "engine/base/output_buffer.h"
#include "engine/execute/client_state.h"
#include "engine/execute/request_view.h"
#include "engine/protocol/frame.h"
#include "engine/protocol/response.h"

namespace liststore::execute {

// What the answer to a request begins with. The views are the client's.
inline protocol::ResponseContext ResponseContextOf(const protocol::FrameHeader& header,
                                                   const ClientState& client) {
  protocol::ResponseContext context;
  context.version = header.version;
  context.stream = header.stream;
  context.extensions = client.extensions;
  return context;
}

// Whole response frames, not compressed, that the client is to have later than those of `out`.
struct DelayedAnswer {
  std::chrono::nanoseconds delay{0};  // from now on
  std::string frames;
};

// What a handler wants of the connection beside sending the answers in `out`: hardly ever anything.
struct ConnectionOrders {
  std::vector<DelayedAnswer> delayed;
  // The connection ends when `out` is sent. What else has arrived is not answered, and delayed
  // answers are lost.
  bool close = false;
  // Above 0: nothing was done, and all requests are postponed until then.
  std::chrono::nanoseconds wait{0};
};

// Thread-safe: called by every event loop, with different clients.
class RequestHandler {
 public:
  virtual ~RequestHandler() = default;
  // Appends one whole response frame, not compressed, for each request, in any order; or puts it
  // among the orders; or leaves a request without an answer; or postpones it, never all of them,
  // because there are answers of kAnswerBytesPerCall, time is over, or one before it was deferred:
  // it is to be handed over again, in its order. Or defers it, where the client's place says so: it
  // is to be handed over again in another place, and maybe behind others. Each request's outcome
  // says which. The requests, at most kRequestsPerTurnMax, are of one client
  // and come in the order it sent them. Views in them are valid during the call. Never blocks on
  // another connection, never throws.
  virtual ConnectionOrders Handle(std::span<RequestView> requests, ClientState& client,
                                  OutputBuffer& out) = 0;
};

// Four groups of the engine: from 8 on a group's size makes no difference, and the answers of one
// call are what a connection may have to hold for a client that does not read.
inline constexpr size_t kRequestsPerTurnMax = 64;

// With answers of so many bytes a call goes on with no other request: what a connection holds is
// this, what a group of the engine adds to it, and one answer, however large that is.
inline constexpr size_t kAnswerBytesPerCall = size_t{2} << 20;

// A call that has worked for so long goes on with no other request that is run alone.
inline constexpr std::chrono::nanoseconds kTimePerCall = std::chrono::milliseconds(1);

}  // namespace liststore::execute

#endif  // LISTSTORE_ENGINE_EXECUTE_REQUEST_HANDLER_H_
