// The packed item key without vector instructions: for machines that lack SSE4.1, and what the
// vectorised form is tested against. Contracts are those of packed_item_key.h.
#ifndef LISTSTORE_ENGINE_MODEL_PACKED_ITEM_KEY_SCALAR_H_
#define LISTSTORE_ENGINE_MODEL_PACKED_ITEM_KEY_SCALAR_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "engine/model/packed_item_key.h"

namespace liststore::scalar {

// The number in kItemKeyDigits digits; nullopt: there is something else among them.
std::optional<uint64_t> ParseItemKeyNanos(const char* digits);
bool PackItemKey(std::string_view text, char packed[kPackedItemKeyBytes]);
void UnpackItemKey(const char packed[kPackedItemKeyBytes], char text[kItemKeyTextBytes]);
void PackItemKeyFromDigest(uint64_t nanos, const uint8_t digest[16],
                           char packed[kPackedItemKeyBytes]);

}  // namespace liststore::scalar

#endif  // LISTSTORE_ENGINE_MODEL_PACKED_ITEM_KEY_SCALAR_H_
