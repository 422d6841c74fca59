// FaultingHandler: in front of the statements, what makes some of them go wrong.
#ifndef LISTSTORE_ENGINE_INSTRUMENTS_FAULTING_HANDLER_H_
#define LISTSTORE_ENGINE_INSTRUMENTS_FAULTING_HANDLER_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/execute/query_processor.h"
#include "engine/execute/request_handler.h"
#include "engine/instruments/fault_plan.h"
#include "engine/protocol/response.h"

namespace liststore::instruments {

// Thread-safe. While no fault is armed, a load in front of the next handler. Else requests are handed
// on one by one: one that has to wait, for whatever reason, meets its fault when its turn has come.
// What a deferred one has met is kept with it.
class FaultingHandler final : public execute::RequestHandler {
 public:
  // Both outlive it.
  FaultingHandler(FaultPlan& plan, execute::QueryProcessor& next) : plan_(plan), next_(next) {}

  execute::ConnectionOrders Handle(std::span<execute::RequestView> requests,
                                   execute::ClientState& client, OutputBuffer& out) override;

 private:
  struct Met;

  // Fills `look`, with keys only where they are asked for.
  std::optional<FaultHit> Meet(execute::RequestView& request, execute::ClientState& client,
                               FaultRequest& look);
  // What each of the request's statements would be planned as now, of those that can be.
  template <typename Visit>
  void ForEachPlan(execute::RequestView& request, const execute::ClientState& client,
                   const Visit& visit) const;
  std::vector<std::string> KeysOf(execute::RequestView& request,
                                  const execute::ClientState& client) const;
  protocol::WriteType TypeOfWrite(execute::RequestView& request,
                                  const execute::ClientState& client) const;
  // One request, when all before it are done.
  void HandleOne(execute::RequestView& request, execute::ClientState& client, OutputBuffer& out,
                 execute::ConnectionOrders& orders);
  void Suffer(const FaultHit& hit, const FaultRequest& look, execute::RequestView& request,
              execute::ClientState& client, OutputBuffer& out, execute::ConnectionOrders& orders);
  // What the program gets instead of an answer.
  void Answer(const FaultHit& hit, const FaultRequest& look, execute::RequestView& request,
              const execute::ClientState& client, OutputBuffer& out) const;

  FaultPlan& plan_;
  execute::QueryProcessor& next_;
};

}  // namespace liststore::instruments

#endif  // LISTSTORE_ENGINE_INSTRUMENTS_FAULTING_HANDLER_H_
