// A replay's store in this process.
#ifndef LISTSTORE_TOOLS_REPLAY_EMBEDDED_TARGET_H_
#define LISTSTORE_TOOLS_REPLAY_EMBEDDED_TARGET_H_

#include <memory>
#include <string>

#include "tools/replay/replay_target.h"

namespace liststore {

class EmbeddedTarget final : public ReplayTarget {
 public:
  // `shards` and `memory_limit_bytes` as in Options.
  static absl::StatusOr<std::unique_ptr<EmbeddedTarget>> Open(uint32_t shards,
                                                              uint64_t memory_limit_bytes,
                                                              uint64_t first_at_nanos);

  absl::Status MoveClock(uint64_t now_nanos) override;
  absl::Status CreateFeature(const Operation& operation) override;
  absl::StatusOr<AddResult> Add(const Operation& operation) override;
  absl::Status Get(const Operation& operation) override;
  absl::StatusOr<size_t> RemoveValue(const Operation& operation) override;
  absl::StatusOr<size_t> RemoveAll(const Operation& operation) override;

  size_t size() const override { return items_.size(); }
  std::string item_key(size_t index) const override { return items_[index].item_key(); }
  std::string value(size_t index) const override { return std::string(items_[index].value); }

  ReplayMemory Memory() const override;
  size_t Reclaim(size_t items_max) override { return store_->Reclaim(items_max); }
  uint64_t expired() const override;
  absl::StatusOr<uint64_t> CountLive(BusiestList* busiest) override;
  uint64_t now_nanos() const override { return clock_.NowNanos(); }
  uint32_t shards() const override { return store_->GetStats().shards; }
  const ListStore* store() const override { return store_.get(); }

 private:
  explicit EmbeddedTarget(uint64_t first_at_nanos) : clock_(first_at_nanos) {}
  absl::Status CreateVersion(const Operation& operation);

  ManualClock clock_;  // the store reads it: declared in front of it
  std::unique_ptr<ListStore> store_;
  ListItems items_;
};

}  // namespace liststore

#endif  // LISTSTORE_TOOLS_REPLAY_EMBEDDED_TARGET_H_
