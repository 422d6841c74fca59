#include "engine/lists/eviction_notices.h"

#include "engine/lists/list_key.h"
#include "engine/model/partition_key.h"

namespace liststore {

void EvictionNotices::Tell() {
  for (const Eviction& eviction : log_) {
    const FeatureNames names = NamesOf(FirstComponent(eviction.partition_key));
    const EvictedList list{.entity_type = names.entity_type,
                           .feature = names.feature,
                           .version = names.version,
                           .entity_id = EntityIdOf(eviction.partition_key),
                           .items = static_cast<size_t>(eviction.rows),
                           .reason = eviction.cause == EvictionCause::kMemory
                                         ? EvictionReason::kMemory
                                         : EvictionReason::kForgotten};
    options_.eviction_listener(list);
  }
}

}  // namespace liststore
