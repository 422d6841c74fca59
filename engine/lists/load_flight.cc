#include "engine/lists/load_flight.h"

#include <utility>

#include "engine/base/check.h"
#include "engine/base/hash.h"

namespace liststore {

LoadFlight::LoadFlight(const ListId& list, std::string_view partition_key)
    : names_{std::string(list.entity_type), std::string(list.feature), std::string(list.version),
             std::string(list.entity_id)},
      list_{names_[0], names_[1], names_[2], names_[3]},
      partition_key_(partition_key) {}

bool LoadFlight::Land(absl::Status status, std::span<const NewItem> items) {
  // Copied outside of the mutex; a second landing drops its copy.
  std::string bytes;
  size_t value_bytes = 0;
  for (const NewItem& item : items) value_bytes += item.value.size();
  bytes.reserve(value_bytes);
  std::vector<NewItem> copies;
  copies.reserve(items.size());
  for (const NewItem& item : items) {
    const size_t at = bytes.size();
    bytes.append(item.value);
    copies.push_back(
        {item.timestamp_nanos, std::string_view(bytes.data() + at, item.value.size())});
  }
  {
    const MutexLock lock(mutex_);
    if (landed_) return false;
    landed_ = true;
    status_ = std::move(status);
    const char* const before = bytes.data();
    bytes_ = std::move(bytes);
    items_ = std::move(copies);
    // The bytes of a short string move with it.
    for (NewItem& item : items_) {
      item.value = {bytes_.data() + (item.value.data() - before), item.value.size()};
    }
  }
  landed_changed_.notify_all();
  return true;
}

bool LoadFlight::landed() const {
  const MutexLock lock(mutex_);
  return landed_;
}

absl::Status LoadFlight::Wait() const {
  const MutexLock lock(mutex_);
  while (!landed_) landed_changed_.wait(mutex_);
  return status_;
}

FlightTable::Part& FlightTable::PartOf(std::string_view partition_key) {
  return parts_[Hash64(partition_key) % kParts];
}

FlightTable::Joined FlightTable::Join(const ListRef& list, std::string_view partition_key) {
  Part& part = PartOf(partition_key);
  const MutexLock lock(part.mutex);
  const auto at = part.flights.find(partition_key);
  if (at != part.flights.end()) return {at->second, false};
  auto flight = std::make_shared<LoadFlight>(list.id(), partition_key);
  part.flights.emplace(flight->partition_key(), flight);
  return {std::move(flight), true};
}

void FlightTable::Detach(std::string_view partition_key) {
  Part& part = PartOf(partition_key);
  const MutexLock lock(part.mutex);
  const auto at = part.flights.find(partition_key);
  if (at != part.flights.end()) part.flights.erase(at);
}

void FlightTable::Remove(const LoadFlight& flight) {
  Part& part = PartOf(flight.partition_key());
  const MutexLock lock(part.mutex);
  const auto at = part.flights.find(flight.partition_key());
  // The table may have another flight of the list, if this one was detached.
  if (at != part.flights.end() && at->second.get() == &flight) part.flights.erase(at);
}

}  // namespace liststore
