// LiveSettings: ScyllaDB's settings of a server, which clients may change while it runs.
#ifndef LISTSTORE_ENGINE_SETTINGS_LIVE_SETTINGS_H_
#define LISTSTORE_ENGINE_SETTINGS_LIVE_SETTINGS_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "engine/base/mutex.h"
#include "engine/settings/scylla_settings.h"

namespace liststore::settings {

// Thread-safe.
class LiveSettings {
 public:
  explicit LiveSettings(ScyllaConfig config);

  ScyllaConfig config() const;
  std::shared_ptr<const StatementSettings> statements() const;
  // Of the last change; no two LiveSettings of a process ever have the same one. A load: who keeps
  // statements() asks again when it is another.
  uint64_t version() const { return version_.load(std::memory_order_acquire); }

  enum class Change : uint8_t {
    kDone,
    kUnknown,
    kFixed,  // not while the server runs
    kNoValue,
    kNoWord,   // no value of a type whose values are words
    kRefused,  // clients may change nothing at all
  };
  // By a client. Source: ScyllaDB db/virtual_tables.cc, db_config_table.
  Change Set(std::string_view name, std::string_view value);
  // As they were at the start.
  void Reset();

 private:
  void Publish() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const ScyllaConfig initial_;
  mutable Mutex mutex_;
  ScyllaConfig config_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<const StatementSettings> statements_ ABSL_GUARDED_BY(mutex_);
  std::atomic<uint64_t> version_;
};

}  // namespace liststore::settings

#endif  // LISTSTORE_ENGINE_SETTINGS_LIVE_SETTINGS_H_
