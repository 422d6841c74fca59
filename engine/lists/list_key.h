// Names of lists, their bounds, and partition keys.
//
// feature_key is "entityType#feature|version". An entity type holds no '#' and a feature no '|', so
// no two features share a feature_key whatever a version holds. The partition key of a list is the
// serialised composite (feature_key, entity_id), see model/partition_key.h.
#ifndef LISTSTORE_ENGINE_LISTS_LIST_KEY_H_
#define LISTSTORE_ENGINE_LISTS_LIST_KEY_H_

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "engine/base/check.h"
#include "engine/lists/feature_entry.h"
#include "liststore/list_ref.h"

namespace liststore {

// InvalidArgument: a name is empty, holds its separator, is not UTF-8, or leaves no room for a list
// key within kKeyBytesMax. Names are columns of type text.
absl::Status CheckFeatureNames(std::string_view entity_type, std::string_view feature,
                               std::string_view version);

std::string FeatureKey(std::string_view entity_type, std::string_view feature,
                       std::string_view version);
// The feature_key as first component of a composite partition key: length, bytes, zero byte.
std::string FramedFeatureKey(std::string_view feature_key);
// The names in a feature_key. Lists written through CQL may have other feature keys; names that are
// missing there are empty.
struct FeatureNames {
  std::string_view entity_type;
  std::string_view feature;
  std::string_view version;
};
FeatureNames NamesOf(std::string_view feature_key);
// The second component of a list's partition key, as a view into it.
std::string_view EntityIdOf(std::string_view partition_key);

// `name` for messages: quoted, escaped, cut if it is long.
std::string Quoted(std::string_view name);

// The partition key of one list: up to kInlineBytes in the object, longer keys on the heap. Not
// initialised before the first successful Assign. May be assigned again; keeps its heap buffer.
class ListKey {
 public:
  ListKey() = default;
  ListKey(const ListKey&) = delete;
  ListKey& operator=(const ListKey&) = delete;

  // Checks the names, except those of a handle, which were checked before, and builds the key.
  // InvalidArgument: as CheckFeatureNames, and for the entity id.
  absl::Status Assign(const ListRef& list) {
    if (list.entry_ == nullptr) return AssignNames(list.id_);
    return Assign(list.entry_->framed_feature_key(), list.id_.entity_id);
  }
  absl::Status Assign(const ListRefs& lists, size_t index) {
    LS_DCHECK(index < lists.size_, "the list is one of those that were given");
    if (lists.entry_ != nullptr) {
      return Assign(lists.entry_->framed_feature_key(), lists.entity_ids_[index]);
    }
    return lists.ids_ != nullptr ? AssignNames(lists.ids_[index]) : Assign(lists.refs_[index]);
  }
  // The same for a feature whose names were checked before.
  absl::Status Assign(std::string_view framed_feature_key, std::string_view entity_id);

  std::string_view partition_key() const { return {data_, size_}; }
  std::string_view feature_key() const { return {data_ + 2, feature_key_bytes_}; }

 private:
  static constexpr size_t kInlineBytes = 128;

  absl::Status AssignNames(const ListId& list);
  // Of any names, however long.
  absl::Status AssignLong(std::string_view framed_feature_key, std::string_view entity_id);
  // Room for a key of `bytes`; its old content is lost.
  char* Reserve(size_t bytes);
  // Appends the second component after the first, which ends at `data_ + first_bytes`.
  void AppendEntityId(size_t first_bytes, std::string_view entity_id);

  char* data_ = nullptr;  // inline_ or heap_
  size_t size_ = 0;
  size_t feature_key_bytes_ = 0;
  size_t heap_bytes_ = 0;
  std::unique_ptr<char[]> heap_;
  char inline_[kInlineBytes];
};

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_LISTS_LIST_KEY_H_
