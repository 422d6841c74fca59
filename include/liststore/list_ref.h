// Which list an operation is about: ListId names it, ListFeature is a handle that saves work, and
// ListRef, which operations take, is made implicitly from either.
//
//   store.GetListItems(id, ...);                                  // a ListId
//   store.GetListItems({"user", "reading_history", "", "17"}, ...);
//   store.GetListItems({feature, "17"}, ...);                     // a ListFeature and an entity
//   store.MultiGetListItems({feature, entity_ids}, ...);          // the same, many lists
//
// All of them are views: they borrow strings for the length of a call, are cheap to copy and
// allocate nothing.
#ifndef LISTSTORE_LIST_REF_H_
#define LISTSTORE_LIST_REF_H_

#include <concepts>
#include <cstddef>
#include <span>
#include <string_view>

namespace liststore {

class FeatureEntry;

// Names one list. All four names are UTF-8 (they are columns of type text). `entity_type` holds no
// '#', `feature` no '|', and neither is empty; `version` and `entity_id` may be anything, also
// empty. Together they take at most 65,529 bytes: a key of 65,535 with its framing.
struct ListId {
  std::string_view entity_type;
  std::string_view feature;
  std::string_view version;
  std::string_view entity_id;
};

// A feature version that was looked up once (ListStore::FindListFeature), so that operations on its
// lists need not check its names, build its key and find it again. Cheap to copy; any thread may
// use it. Valid as long as its store, also after the feature was deleted or created again: it
// stands for the names, not for one life of the feature.
class ListFeature {
 private:
  friend class ListRef;
  friend class ListRefs;
  friend class ListStore;
  explicit ListFeature(FeatureEntry* entry) : entry_(entry) {}
  FeatureEntry* entry_;
};

// One list.
class ListRef {
 public:
  // NOLINTBEGIN(google-explicit-constructor): operations take either.
  ListRef() = default;  // empty names, which no operation accepts
  ListRef(const ListId& id) : id_(id) {}
  ListRef(std::string_view entity_type, std::string_view feature, std::string_view version,
          std::string_view entity_id)
      : id_{entity_type, feature, version, entity_id} {}
  // The handle must be of the store that is called.
  ListRef(const ListFeature& feature, std::string_view entity_id)
      : entry_(feature.entry_), id_{{}, {}, {}, entity_id} {}
  // NOLINTEND(google-explicit-constructor)

  // The list by its names. Those of a handle's feature are borrowed from the store.
  ListId id() const;

 private:
  friend class ListKey;
  friend class ListStore;
  FeatureEntry* entry_ = nullptr;  // nullptr: id_ has all names; else only the entity id
  ListId id_;
};

// Many lists: an array, vector or span of ListId or of ListRef, or a handle and an array of entity
// ids. The array is borrowed too.
class ListRefs {
 public:
  // NOLINTBEGIN(google-explicit-constructor): operations take any of them.
  template <std::convertible_to<std::span<const ListId>> Lists>
  ListRefs(const Lists& lists) {
    const std::span<const ListId> ids(lists);
    size_ = ids.size();
    ids_ = ids.data();
  }
  template <std::convertible_to<std::span<const ListRef>> Lists>
  ListRefs(const Lists& lists) {
    const std::span<const ListRef> refs(lists);
    size_ = refs.size();
    refs_ = refs.data();
  }
  ListRefs(const ListFeature& feature, std::span<const std::string_view> entity_ids)
      : size_(entity_ids.size()), entity_ids_(entity_ids.data()), entry_(feature.entry_) {}
  // NOLINTEND(google-explicit-constructor)

  size_t size() const { return size_; }
  // `index` < size().
  ListRef operator[](size_t index) const;

 private:
  friend class ListKey;
  size_t size_ = 0;
  // One of the three is set, the last one with entry_.
  const ListId* ids_ = nullptr;
  const ListRef* refs_ = nullptr;
  const std::string_view* entity_ids_ = nullptr;
  FeatureEntry* entry_ = nullptr;
};

}  // namespace liststore

#endif  // LISTSTORE_LIST_REF_H_
