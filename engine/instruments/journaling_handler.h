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

namespace liststore::instruments {

// Thread-safe. Groups of requests stay groups. A group costs a load while the journal is off; else
// three readings of clocks and a lock, and each request a copy of its values.
//
// Not recorded: statements on keyspaces that the server made itself. When a request came is told by
// the server's clock; how long it took by the machine's steady one: the time of the group that it
// came in, and its delay.
class JournalingHandler final : public execute::RequestHandler {
 public:
  // All of them outlive this. `statements`: where `next` looks prepared ones up.
  JournalingHandler(Journal& journal, const Clock& clock, const execute::StatementCache& statements,
                    execute::RequestHandler& next)
      : journal_(journal), clock_(clock), statements_(statements), next_(next) {}

  execute::ConnectionOrders Handle(std::span<execute::RequestView> requests,
                                   execute::ClientState& client, OutputBuffer& out) override;

 private:
  struct Group;

  // Finds out which requests are recorded.
  void Choose(execute::ClientState& client_state, Group& group) const;
  void Record(const Group& group);

  Journal& journal_;
  const Clock& clock_;
  const execute::StatementCache& statements_;
  execute::RequestHandler& next_;
};

}  // namespace liststore::instruments

#endif  // LISTSTORE_ENGINE_INSTRUMENTS_JOURNALING_HANDLER_H_
