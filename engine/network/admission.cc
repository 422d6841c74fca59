#include "engine/network/admission.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "engine/base/check.h"

namespace liststore::network {

Admission::Ticket::~Ticket() {
  if (admission_ != nullptr) admission_->Leave(*this);
}

ConnectionLimits Admission::Resolve(const ConnectionLimits& limits, uint64_t descriptors,
                                    size_t loops) {
  // The kernel's objects of a loop, listeners, standard streams, files; and who is refused.
  const size_t kept = 64 + 4 * loops + kToldMax;
  ConnectionLimits all = limits;
  if (all.connections_max == 0) {
    all.connections_max =
        std::max<size_t>(descriptors > 2 * kept ? descriptors - kept : descriptors / 2, 1);
  }
  if (all.per_address_max == 0) {
    all.per_address_max = std::max<size_t>(all.connections_max / 4 * 3, 1);
  }
  return all;
}

Admission::Ticket Admission::Enter(std::string_view address) {
  Ticket ticket;
  ticket.address_ = address;
  const MutexLock lock(mutex_);
  const auto at = by_address_.find(ticket.address_);
  ticket.refusal_ = Refusal(at == by_address_.end() ? 0 : at->second);
  if (!ticket.refusal_.empty()) {
    if (told_ == kToldMax) return ticket;
    ++told_;
  } else {
    ++by_address_[ticket.address_];  // the heap may refuse it
    ++connections_;
  }
  ticket.admission_ = this;
  return ticket;
}

std::string Admission::Refusal(size_t count) const {
  const auto say = [](size_t there_are, const char* which, const char* limit, size_t max) {
    return absl::StrCat("Too many connections: there are ", there_are, which, ", and ", limit,
                        " of the server is ", max);
  };
  if (connections_ >= limits_.connections_max) {
    return say(connections_, "", "max_connections", limits_.connections_max);
  }
  if (count >= limits_.per_address_max) {
    return say(count, " from this address", "max_connections_per_address", limits_.per_address_max);
  }
  if (connections_ + kept() >= limits_.connections_max && count >= kFew) {
    return absl::StrCat(say(connections_, "", "max_connections", limits_.connections_max),
                        ", of which the last ", kept(), " are for addresses with fewer than ",
                        kFew);
  }
  return "";
}

void Admission::Leave(const Ticket& ticket) {
  const MutexLock lock(mutex_);
  if (!ticket.refusal_.empty()) {
    LS_CHECK(told_ > 0, "who leaves has entered");
    --told_;
    return;
  }
  const auto at = by_address_.find(ticket.address_);
  LS_CHECK(connections_ > 0 && at != by_address_.end(), "who leaves has entered");
  --connections_;
  if (--at->second == 0) by_address_.erase(at);
}

}  // namespace liststore::network
