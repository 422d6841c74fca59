// Running loads: at most one per list, which all reads of the list share.
#ifndef LISTSTORE_ENGINE_LISTS_LOAD_FLIGHT_H_
#define LISTSTORE_ENGINE_LISTS_LOAD_FLIGHT_H_

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "engine/base/mutex.h"
#include "liststore/list_item.h"
#include "liststore/list_ref.h"

namespace liststore {

// The load of one list, from the first read that needs it until it lands. Any thread.
class LoadFlight {
 public:
  // Copies its arguments. `partition_key` is that of the list.
  LoadFlight(const ListId& list, std::string_view partition_key);
  LoadFlight(const LoadFlight&) = delete;
  LoadFlight& operator=(const LoadFlight&) = delete;

  const ListId& list() const { return list_; }
  const std::string& partition_key() const { return partition_key_; }
  // The thread on which the loader runs for it; none before that.
  std::thread::id loading_thread() const { return loading_thread_.load(std::memory_order_relaxed); }
  void NoteLoading() {
    loading_thread_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  }

  // Ends the flight. Returns false, and has no effect, if it has ended before. `items` are copied;
  // they are the content of the list if `status` is OK.
  bool Land(absl::Status status, std::span<const NewItem> items);
  bool landed() const;
  // Waits until it has landed.
  absl::Status Wait() const;
  // The content, after it has landed with OK; borrowed from the flight.
  std::span<const NewItem> items() const { return items_; }

  // Set by the loading thread: the change mark of the list before the load, and until when the
  // content is fresh (0: always). Others read them after it has landed.
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
  // Written before it lands, read after.
  std::string bytes_;
  std::vector<NewItem> items_;  // of bytes_
};

// The flights that reads may join, by list.
class FlightTable {
 public:
  struct Joined {
    std::shared_ptr<LoadFlight> flight;
    bool leads = false;  // the flight is new, and the caller loads
  };
  Joined Join(const ListRef& list, std::string_view partition_key);
  // The list has changed: later reads need another load. Reads that wait already go on waiting.
  void Detach(std::string_view partition_key);
  // The flight has landed.
  void Remove(const LoadFlight& flight);

 private:
  // Misses are slow; they only must not all wait for one mutex.
  static constexpr size_t kParts = 16;
  struct Part {
    Mutex mutex;
    std::map<std::string, std::shared_ptr<LoadFlight>, std::less<>> flights ABSL_GUARDED_BY(mutex);
  };
  Part& PartOf(std::string_view partition_key);
  std::array<Part, kParts> parts_;
};

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_LISTS_LOAD_FLIGHT_H_
