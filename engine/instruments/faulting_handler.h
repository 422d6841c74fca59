// FaultingHandler: in front of the statements, what makes some of them go wrong.
#ifndef LISTSTORE_ENGINE_INSTRUMENTS_FAULTING_HANDLER_H_
#define LISTSTORE_ENGINE_INSTRUMENTS_FAULTING_HANDLER_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/execute/query_processor.h"
#include "engine/execute/request_handler.h"
#include "engine/instruments/fault_plan.h"

namespace liststore {

struct FaultLook;  // a request, taken apart

// Thread-safe. While no fault is armed, a load in front of the next handler. Requests that meet no
// fault stay together; one that does is dealt with when those before it are answered.
class FaultingHandler final : public RequestHandler {
 public:
  // Both outlive it.
  FaultingHandler(FaultPlan& plan, QueryProcessor& next) : plan_(plan), next_(next) {}

  ConnectionOrders Handle(std::span<PendingRequest> requests, ClientState& client,
                          OutputBuffer& out) override;

 private:
  std::optional<FaultHit> HitOf(const FaultLook& look, const ClientState& client);
  void Suffer(const FaultHit& hit, const FaultLook& look, PendingRequest& pending,
              ClientState& client, OutputBuffer& out, ConnectionOrders& orders);

  FaultPlan& plan_;
  QueryProcessor& next_;
};

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_INSTRUMENTS_FAULTING_HANDLER_H_
