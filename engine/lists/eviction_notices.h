// EvictionNotices: passes what one call evicted to the listener, at the end of the call.
#ifndef LISTSTORE_ENGINE_LISTS_EVICTION_NOTICES_H_
#define LISTSTORE_ENGINE_LISTS_EVICTION_NOTICES_H_

#include "engine/model/eviction.h"
#include "liststore/options.h"

namespace liststore {

// On the stack of a call that writes, before any pass of the AddGate: its destructor calls the
// listener, when no lane and no pass is held. Without a listener it records and allocates nothing.
class EvictionNotices {
 public:
  explicit EvictionNotices(const Options& options) : options_(options) {}
  ~EvictionNotices() {
    if (!log_.empty()) [[unlikely]]
      Tell();
  }
  EvictionNotices(const EvictionNotices&) = delete;
  EvictionNotices& operator=(const EvictionNotices&) = delete;

  // For Command::evictions. nullptr: there is no listener.
  EvictionLog* log() { return options_.eviction_listener ? &log_ : nullptr; }

 private:
  void Tell();

  const Options& options_;
  EvictionLog log_;
};

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_LISTS_EVICTION_NOTICES_H_
