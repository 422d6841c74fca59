// JournalingHandler: writes down in the journal what another handler was asked, and how it
// answered.
#ifndef LISTSTORE_ENGINE_INSTRUMENTS_JOURNALING_HANDLER_H_
#define LISTSTORE_ENGINE_INSTRUMENTS_JOURNALING_HANDLER_H_

#include <span>

#include "engine/base/output_buffer.h"
#include "engine/execute/request_handler.h"
#include "engine/execute/statement_cache.h"
#include "engine/instruments/journal.h"
#include "liststore/clock.h"

namespace liststore {

// Thread-safe. Groups of requests stay groups. A group costs a load while the journal is off; else
// three readings of clocks and a lock, and each request a copy of its values.
//
// Not recorded: statements on keyspaces that the server made itself. When a request came is told by
// the server's clock; how long it took by the machine's steady one: the time of the group that it
// came in, and its delay.
class JournalingHandler final : public RequestHandler {
 public:
  // All of them outlive this. `statements`: where `next` looks prepared ones up.
  JournalingHandler(Journal& journal, const Clock& clock, const StatementCache& statements,
                    RequestHandler& next)
      : journal_(journal), clock_(clock), statements_(statements), next_(next) {}

  ConnectionOrders Handle(std::span<RequestView> requests, ClientState& client,
                          OutputBuffer& out) override;

 private:
  struct Group;

  // Finds out which requests are recorded.
  void Choose(ClientState& client_state, Group& group) const;
  void Record(const Group& group);

  Journal& journal_;
  const Clock& clock_;
  const StatementCache& statements_;
  RequestHandler& next_;
};

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_INSTRUMENTS_JOURNALING_HANDLER_H_
