// Loads under way: one for each list at a time, whoever asks for it.
#ifndef LISTSTORE_ENGINE_LISTS_LOAD_FLIGHT_H_
#define LISTSTORE_ENGINE_LISTS_LOAD_FLIGHT_H_

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "engine/base/mutex.h"
#include "liststore/list_item.h"
#include "liststore/list_ref.h"

namespace liststore {

// The load of one list, from the first who asks for it until it has landed. Any thread.
class LoadFlight {
 public:
  // Copies what it needs. `partition_key`: the list's.
  LoadFlight(const ListId& list, std::string_view partition_key);
  LoadFlight(const LoadFlight&) = delete;
  LoadFlight& operator=(const LoadFlight&) = delete;

  const ListId& list() const { return list_; }
  const std::string& partition_key() const { return partition_key_; }
  // The thread on which the loader runs for it; none before.
  std::thread::id loading_thread() const { return loading_thread_.load(std::memory_order_relaxed); }
  void NoteLoading() {
    loading_thread_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  }

  // Ends the flight, once: false, and nothing happens, when it has ended before. `items` are
  // copied; they are the list's content when `status` is OK.
  bool Land(absl::Status status, std::span<const NewItem> items);
  bool landed() const;
  // Until it has landed.
  absl::Status Wait() const;
  // Of a flight that landed with OK; borrowed from it.
  std::span<const NewItem> items() const { return items_; }

  // Of whoever loads: the change mark of the list before, and until when what came is fresh (0: for
  // ever). Read by others once it has landed.
  uint64_t mark = 0;
  int64_t fresh_until_seconds = 0;

 private:
  std::array<std::string, 4> names_;
  ListId list_;  // of names_
  const std::string partition_key_;
  std::atomic<std::thread::id> loading_thread_{std::thread::id()};

  mutable Mutex mutex_;
  mutable std::condition_variable_any landed_changed_;
  bool landed_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
  // Written before it lands, read afterwards.
  std::string bytes_;
  std::vector<NewItem> items_;  // of bytes_
};

// The flights that may be joined, by list.
class FlightTable {
 public:
  struct Joined {
    std::shared_ptr<LoadFlight> flight;
    bool leads = false;  // it is new: the caller loads
  };
  Joined Join(const ListRef& list, std::string_view partition_key);
  // The list has changed: who comes from now on needs a load of its own. Those who wait go on
  // waiting for theirs.
  void Detach(std::string_view partition_key);
  // The flight has landed.
  void Remove(const LoadFlight& flight);

 private:
  // Misses are slow: what matters is that they do not queue behind one mutex.
  static constexpr size_t kParts = 16;
  struct Part {
    Mutex mutex;
    absl::flat_hash_map<std::string, std::shared_ptr<LoadFlight>> flights ABSL_GUARDED_BY(mutex);
  };
  Part& PartOf(std::string_view partition_key);
  std::array<Part, kParts> parts_;
};

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_LISTS_LOAD_FLIGHT_H_
