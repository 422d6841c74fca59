// Conversions between the structures of C and of the library, with checks of what comes in, and
// from a status to a number and a text.
#ifndef LISTSTORE_ENGINE_C_API_CONVERSION_H_
#define LISTSTORE_ENGINE_C_API_CONVERSION_H_

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <exception>
#include <new>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "engine/base/status_macros.h"
#include "engine/c_api/handles.h"

namespace liststore {

void SetText(liststore_error* error, std::string_view text);
liststore_status Answer(const absl::Status& status, liststore_error* error);

// Runs `call`, which returns an absl::Status. The library throws nothing, but memory may be
// exhausted, and a visitor may be C++ and throw.
template <typename Call>
liststore_status Guard(liststore_error* error, Call&& call) noexcept {
  try {
    return Answer(call(), error);
  } catch (const std::bad_alloc&) {
    SetText(error, "out of memory");
    return LISTSTORE_RESOURCE_EXHAUSTED;
  } catch (const std::exception& exception) {
    SetText(error, exception.what());
    return LISTSTORE_INTERNAL;
  } catch (...) {
    SetText(error, "exception of an unknown type");
    return LISTSTORE_INTERNAL;
  }
}

absl::Status Null(const char* argument);
#define LS_RETURN_IF_NULL(argument) \
  if ((argument) == nullptr) return Null(#argument)

inline std::string_view ToView(const liststore_bytes& bytes) {
  return bytes.data == nullptr ? std::string_view() : std::string_view(bytes.data, bytes.size);
}
inline liststore_bytes ToBytes(std::string_view view) { return {view.data(), view.size()}; }
absl::Status CheckBytes(const liststore_bytes& bytes, const char* what);
absl::StatusOr<ListId> ToListId(const liststore_list* list);
absl::Status AppendItems(const liststore_new_item* items, size_t count, std::vector<NewItem>& out);

// Writes `defaults` into the first `size` bytes of a caller's structure, with zeros after them.
template <typename T>
void InitSized(T* given, size_t size, T defaults) {
  if (given == nullptr) return;
  defaults.size = size;
  auto* const bytes = reinterpret_cast<char*>(given);
  const size_t known = std::min(size, sizeof(T));
  std::memcpy(bytes, &defaults, known);
  std::memset(bytes + known, 0, size - known);
}

// Copies a caller's structure, which may be shorter or longer than T. Bytes after T must be 0.
template <typename T>
absl::StatusOr<T> CopySized(const T* given, const T& defaults, const char* what) {
  if (given == nullptr) return defaults;
  if (given->size < sizeof(size_t)) {
    return absl::InvalidArgumentError(
        absl::StrCat("size ", given->size, " of ", what, " is less than ", sizeof(size_t)));
  }
  T copy = {};
  std::memcpy(&copy, given, std::min(given->size, sizeof(T)));
  const auto* bytes = reinterpret_cast<const char*>(given);
  for (size_t i = sizeof(T); i < given->size; ++i) {
    if (bytes[i] != 0) {
      return absl::InvalidArgumentError(
          absl::StrCat(what, " sets a field at ", i, " that this library does not know"));
    }
  }
  return copy;
}

absl::StatusOr<Options> ToOptions(const liststore_options* given);
absl::StatusOr<GetOptions> ToGetOptions(const liststore_get_options* given);
absl::StatusOr<PutListOptions> ToPutOptions(const liststore_put_options* given);

template <typename T>
absl::Status Give(absl::StatusOr<T> result, T* out) {
  if (result.ok() && out != nullptr) *out = *result;
  return result.status();
}
// 1 for true.
inline absl::Status Give(const absl::StatusOr<bool>& result, int32_t* out) {
  if (result.ok() && out != nullptr) *out = *result ? 1 : 0;
  return result.status();
}

// `Items` is ListItems or ListView.
template <typename Items>
absl::Status GiveItem(const Items& items, size_t index, liststore_item* item) {
  LS_RETURN_IF_NULL(item);
  if (index >= items.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("item ", index, " of a result of ", items.size()));
  }
  const ListItemView view = items[index];
  *item = {view.timestamp_nanos, ToBytes(view.value), view.expires_at_seconds};
  return absl::OkStatus();
}

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_C_API_CONVERSION_H_
