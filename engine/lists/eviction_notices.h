// EvictionNotices: what one call evicted, told to the listener when the call's work is done.
#ifndef LISTSTORE_ENGINE_LISTS_EVICTION_NOTICES_H_
#define LISTSTORE_ENGINE_LISTS_EVICTION_NOTICES_H_

#include "engine/model/eviction.h"
#include "liststore/options.h"

namespace liststore {

// Lives on the stack of a call that writes; its destructor calls the listener, when no lane is held
// and no pass of the AddGate. Without a listener it gathers nothing, and allocates nothing.
class EvictionNotices {
 public:
  explicit EvictionNotices(const Options& options) : options_(options) {}
  ~EvictionNotices() {
    if (!log_.empty()) [[unlikely]]
      Tell();
  }
  EvictionNotices(const EvictionNotices&) = delete;
  EvictionNotices& operator=(const EvictionNotices&) = delete;

  // For Command::evictions; nullptr: nobody listens.
  EvictionLog* log() { return options_.eviction_listener ? &log_ : nullptr; }

 private:
  void Tell();

  const Options& options_;
  EvictionLog log_;
};

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_LISTS_EVICTION_NOTICES_H_
