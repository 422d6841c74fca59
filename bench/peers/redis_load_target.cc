#include "bench/peers/redis_load_target.h"

#include <utility>

#include "engine/base/check.h"
#include "engine/base/status_macros.h"

namespace liststore {

RedisLoadTarget::RedisLoadTarget(const Clients& clients, size_t places,
                                 std::vector<RedisSource*> sources)
    : clients_(clients),
      places_(places),
      sources_(std::move(sources)),
      turns_(clients.size()),
      asked_(clients.size() * places) {}

std::optional<size_t> RedisLoadTarget::Append(size_t connection, size_t source) {
  LS_CHECK(HasPlace(connection), "a command is taken down where a place is free");
  Turn& turn = turns_[connection];
  const size_t slot = SlotOf(connection, turn.appended);
  asked_[slot] = sources_[source];
  if (!asked_[slot]->Next(slot, clients_[connection]->requests())) return std::nullopt;
  ++turn.appended;
  return slot;
}

absl::Status RedisLoadTarget::Take(size_t connection, std::vector<size_t>* answered) {
  Turn& turn = turns_[connection];
  while (true) {
    LS_ASSIGN_OR_RETURN(const RedisReply* reply, clients_[connection]->Take());
    if (reply == nullptr) return absl::OkStatus();
    if (turn.answered == turn.appended) {
      return absl::InvalidArgumentError("an answer came that nothing had asked for");
    }
    const size_t slot = SlotOf(connection, turn.answered++);
    LS_RETURN_IF_ERROR(asked_[slot]->OnReply(slot, *reply));
    answered->push_back(slot);
  }
}

}  // namespace liststore
