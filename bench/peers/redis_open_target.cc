#include "bench/peers/redis_open_target.h"

#include "engine/base/check.h"
#include "engine/base/status_macros.h"

namespace liststore {

RedisOpenTarget::RedisOpenTarget(const RedisLoad::Clients& clients, RedisSource& selects,
                                 RedisSource& inserts)
    : clients_(clients),
      selects_(selects),
      inserts_(inserts),
      turns_(clients.size()),
      asked_(clients.size() * kOpenInFlight) {}

std::optional<size_t> RedisOpenTarget::Append(size_t connection, bool insert) {
  Turn& turn = turns_[connection];
  if (turn.next_sent - turn.next_answered == kOpenInFlight) return std::nullopt;
  const size_t slot = SlotOf(connection, turn.next_sent++);
  asked_[slot] = insert ? &inserts_ : &selects_;
  const bool more = asked_[slot]->Next(slot, clients_[connection]->requests());
  LS_CHECK(more, "sources of an open loop do not end");
  return slot;
}

absl::Status RedisOpenTarget::Receive(size_t connection, std::vector<size_t>* answered) {
  RedisClient& client = *clients_[connection];
  Turn& turn = turns_[connection];
  LS_RETURN_IF_ERROR(client.Receive());
  while (true) {
    LS_ASSIGN_OR_RETURN(const RedisReply* reply, client.Take());
    if (reply == nullptr) return absl::OkStatus();
    if (turn.next_answered == turn.next_sent) {
      return absl::InvalidArgumentError("an answer came that nothing had asked for");
    }
    const size_t slot = SlotOf(connection, turn.next_answered++);
    LS_RETURN_IF_ERROR(asked_[slot]->OnReply(slot, *reply));
    answered->push_back(slot);
  }
}

}  // namespace liststore
