#include "bench/wire/cql_load_target.h"

#include <utility>

#include "engine/base/check.h"
#include "engine/base/status_macros.h"

namespace liststore {

CqlLoadTarget::CqlLoadTarget(const Clients& clients, size_t places,
                             std::vector<WireSource*> sources)
    : clients_(clients),
      places_(places),
      sources_(std::move(sources)),
      free_(clients.size()),
      asked_(clients.size() * places) {
  LS_CHECK(places <= 0x7fff, "a stream is a positive number of 16 bits");
  for (std::vector<int16_t>& streams : free_) {
    for (size_t stream = places; stream > 0; --stream) {
      streams.push_back(static_cast<int16_t>(stream - 1));
    }
  }
}

std::optional<size_t> CqlLoadTarget::Append(size_t connection, size_t source) {
  std::vector<int16_t>& streams = free_[connection];
  LS_CHECK(!streams.empty(), "a request is taken down where a place is free");
  const int16_t stream = streams.back();
  const size_t slot = connection * places_ + static_cast<size_t>(stream);
  LS_CHECK(asked_[slot] == nullptr, "a stream is free when it was answered");
  WireSource& asked = *sources_[source];
  if (!asked.Next(slot, stream, clients_[connection]->requests())) return std::nullopt;
  asked_[slot] = &asked;
  streams.pop_back();
  return slot;
}

absl::Status CqlLoadTarget::Take(size_t connection, std::vector<size_t>* answered) {
  CqlClient& client = *clients_[connection];
  for (CqlReply reply; client.Take(&reply);) {
    if (reply.stream < 0) continue;  // an event
    const auto stream = static_cast<size_t>(reply.stream);
    const size_t slot = connection * places_ + stream;
    if (stream >= places_ || asked_[slot] == nullptr) {
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
