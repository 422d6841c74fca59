#include "engine/server/handler_factory.h"

namespace liststore {
namespace {

// Answers that nothing is understood yet.
class RefusingHandler final : public RequestHandler {
 public:
  void Handle(std::span<const PendingRequest> requests, ClientState& client,
              protocol::OutputBuffer& out) override {
    for (const PendingRequest& pending : requests) {
      protocol::EncodeError(out, ResponseContextOf(pending.header, client),
                            protocol::ProtocolError{protocol::ErrorCode::kInvalid,
                                                    "this server executes no statements"});
    }
  }
};

}  // namespace

std::unique_ptr<RequestHandler> MakeRequestHandler(const HandlerContext&) {
  return std::make_unique<RefusingHandler>();
}

}  // namespace liststore
