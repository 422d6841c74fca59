#include "tools/liststore/cql_open_target.h"

#include "engine/base/check.h"
#include "engine/base/status_macros.h"

namespace liststore {

CqlOpenTarget::CqlOpenTarget(const WireLoad::Clients& clients, WireSource& selects,
                             WireSource& inserts)
    : clients_(clients),
      selects_(selects),
      inserts_(inserts),
      free_(clients.size()),
      asked_(clients.size() * kOpenInFlight) {
  for (std::vector<int16_t>& streams : free_) {
    for (size_t stream = 0; stream < kOpenInFlight; ++stream) {
      streams.push_back(static_cast<int16_t>(stream));
    }
  }
}

std::optional<size_t> CqlOpenTarget::Append(size_t connection, bool insert) {
  std::vector<int16_t>& streams = free_[connection];
  if (streams.empty()) return std::nullopt;
  const int16_t stream = streams.back();
  streams.pop_back();
  const size_t slot = connection * kOpenInFlight + static_cast<size_t>(stream);
  LS_CHECK(asked_[slot] == nullptr, "a stream is free when it was answered");
  asked_[slot] = insert ? &inserts_ : &selects_;
  const bool more = asked_[slot]->Next(slot, stream, clients_[connection]->requests());
  LS_CHECK(more, "sources of an open loop do not end");
  return slot;
}

absl::Status CqlOpenTarget::Receive(size_t connection, std::vector<size_t>* answered) {
  CqlClient& client = *clients_[connection];
  LS_RETURN_IF_ERROR(client.Receive());
  for (CqlReply reply; client.Take(&reply);) {
    if (reply.stream < 0) continue;  // an event
    const auto stream = static_cast<size_t>(reply.stream);
    const size_t slot = connection * kOpenInFlight + stream;
    if (stream >= kOpenInFlight || asked_[slot] == nullptr) {
      return absl::InvalidArgumentError(client.server() + ": a reply on a stream without request");
    }
    LS_RETURN_IF_ERROR(asked_[slot]->OnReply(slot, reply));
    asked_[slot] = nullptr;
    free_[connection].push_back(reply.stream);
    answered->push_back(slot);
  }
  return absl::OkStatus();
}

}  // namespace liststore
