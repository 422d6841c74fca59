// Writes of Feature.
#include <array>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "tools/python_cache/extension/arguments.h"
#include "tools/python_cache/extension/errors.h"
#include "tools/python_cache/extension/feature_calls.h"
#include "tools/python_cache/extension/store.h"

namespace liststore::python {
namespace {

FeatureObject* Self(PyObject* self) { return reinterpret_cast<FeatureObject*>(self); }

// Whether a write may wait for the disk or for a writer, or takes long by itself.
bool IsLong(const State& state, size_t items) {
  return state.writes_to_disk || state.cache != nullptr || items > kItemsOfALongCall;
}

absl::Status AddTo(const Call& call, const ListRef& list, std::span<const NewItem> items,
                   AddResult* result) {
  State& state = call.state();
  ListCache* const cache = state.cache.get();
  const WithoutGil gil(IsLong(state, items.size()));
  if (cache != nullptr) {
    // What the source has taken counts as stored.
    *result = {items.size(), 0};
    return cache->AddListItems(list, items);
  }
  absl::StatusOr<AddResult> added = call.store().AddListItems(list, items);
  if (added.ok()) *result = *added;
  return added.status();
}

PyObject* AddAll(PyObject* self, std::string_view entity_id, std::span<const NewItem> items) {
  const Call call(Self(self)->store);
  if (!call) return nullptr;
  AddResult result;
  const absl::Status status = AddTo(call, {*Self(self)->feature, entity_id}, items, &result);
  if (!status.ok()) return Raise(status);
  return Py_BuildValue("(nn)", static_cast<Py_ssize_t>(result.stored),
                       static_cast<Py_ssize_t>(result.skipped_expired));
}

// The memory of an array.
class Buffer {
 public:
  Buffer() = default;
  ~Buffer() {
    if (is_open_) PyBuffer_Release(&buffer_);
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  bool Open(PyObject* object, int flags) {
    is_open_ = PyObject_GetBuffer(object, &buffer_, flags) == 0;
    return is_open_;
  }
  const Py_buffer& operator*() const { return buffer_; }
  const Py_buffer* operator->() const { return &buffer_; }

 private:
  Py_buffer buffer_ = {};
  bool is_open_ = false;
};

bool IsInt64(const Py_buffer& buffer) {
  if (buffer.ndim != 1 || buffer.itemsize != 8 || buffer.format == nullptr) return false;
  const char* format = buffer.format;
  if (std::strchr("@=<", *format) != nullptr) ++format;
  return std::strlen(format) == 1 && std::strchr("lLqQ", *format) != nullptr;
}

// Of what IsInt64.
bool IsSigned(const Py_buffer& buffer) {
  const char kind = buffer.format[std::strlen(buffer.format) - 1];
  return kind == 'l' || kind == 'q';
}

// Whether elements of that format hold addresses, in a member of a structure as well: their bytes mean
// nothing once the array is gone. Formats of the module struct and of PEP 3118: O is an object; P, & and
// X{} are pointers, z and Z of text, but for Zf, Zd and Zg, which are complex numbers.
bool HoldsAddresses(const char* format) {
  bool in_name = false;  // of a member: between two colons
  for (const char* at = format == nullptr ? "" : format; *at != '\0'; ++at) {
    if (*at == ':') in_name = !in_name;
    if (in_name) continue;
    if (*at == 'Z' && at[1] != '\0' && std::strchr("fdg", at[1]) != nullptr) continue;
    if (std::strchr("OP&XzZ", *at) != nullptr) return true;
  }
  return false;
}

bool OnlyEntity(const char* function, PyObject* const* args, Py_ssize_t count, PyObject* names,
                std::string_view* entity_id) {
  std::array<Argument, 1> wanted = {{{"entity_id"}}};
  return Bind(function, args, count, names, wanted, 1) &&
         ToName(wanted[0].value, "entity_id", entity_id);
}

// Calls the store, or, with a loader, its cache, which only says whether it went well.
template <typename InStore, typename InCache>
PyObject* Remove(PyObject* self, const InStore& in_store, const InCache& in_cache) {
  const Call call(Self(self)->store);
  if (!call) return nullptr;
  State& state = call.state();
  ListCache* const cache = state.cache.get();
  absl::StatusOr<size_t> removed = 0;
  {
    const WithoutGil gil(IsLong(state, 0));
    if (cache != nullptr) {
      const absl::Status status = in_cache(*cache);
      if (!status.ok()) removed = status;
    } else {
      removed = in_store(call.store());
    }
  }
  if (!removed.ok()) return Raise(removed.status());
  return cache != nullptr ? None() : PyLong_FromSize_t(*removed);
}

}  // namespace

PyObject* Add(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  std::array<Argument, 3> wanted = {{{"entity_id"}, {"timestamp_nanos"}, {"value"}}};
  std::string_view entity_id;
  NewItem item;
  if (!Bind("add", args, count, names, wanted, 3) ||
      !ToName(wanted[0].value, "entity_id", &entity_id) ||
      !ToNanos(wanted[1].value, "timestamp_nanos", &item.timestamp_nanos) ||
      !ToValue(wanted[2].value, &item.value)) {
    return nullptr;
  }
  const Call call(Self(self)->store);
  if (!call) return nullptr;
  AddResult result;
  const absl::Status status = AddTo(call, {*Self(self)->feature, entity_id}, {&item, 1}, &result);
  return status.ok() ? PyBool_FromLong(result.stored == 1 ? 1 : 0) : Raise(status);
}

PyObject* AddItems(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  std::array<Argument, 2> wanted = {{{"entity_id"}, {"items"}}};
  std::string_view entity_id;
  ParsedItems items;
  if (!Bind("add_items", args, count, names, wanted, 2) ||
      !ToName(wanted[0].value, "entity_id", &entity_id) || !items.Parse(wanted[1].value)) {
    return nullptr;
  }
  return AddAll(self, entity_id, items.items());
}

PyObject* AddArrays(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  std::array<Argument, 3> wanted = {{{"entity_id"}, {"timestamps"}, {"values"}}};
  std::string_view entity_id;
  Buffer timestamps;
  Buffer values;
  constexpr int kContiguous = PyBUF_C_CONTIGUOUS;
  if (!Bind("add_arrays", args, count, names, wanted, 3) ||
      !ToName(wanted[0].value, "entity_id", &entity_id) ||
      !timestamps.Open(wanted[1].value, kContiguous | PyBUF_FORMAT) ||
      !values.Open(wanted[2].value, kContiguous | PyBUF_FORMAT)) {
    return nullptr;
  }
  if (!IsInt64(*timestamps)) {
    PyErr_SetString(PyExc_TypeError, "timestamps must be one row of int64 or uint64");
    return nullptr;
  }
  if (HoldsAddresses(values->format)) {
    PyErr_SetString(
        PyExc_TypeError,
        "values hold addresses of objects, which are no values: use an array of bytes or "
        "numbers, or add_items");
    return nullptr;
  }
  const Py_ssize_t size = timestamps->shape[0];
  if (values->ndim < 1 || values->shape[0] != size) {
    return RaiseInvalid("there are %zd timestamps and %zd values", size,
                        values->ndim < 1 ? Py_ssize_t{1} : values->shape[0]);
  }
  const size_t width = size == 0 ? 0 : static_cast<size_t>(values->len / size);
  std::vector<NewItem> items(static_cast<size_t>(size));
  const bool is_signed = IsSigned(*timestamps);
  for (size_t i = 0; i < items.size(); ++i) {
    std::memcpy(&items[i].timestamp_nanos, static_cast<const char*>(timestamps->buf) + 8 * i, 8);
    if (is_signed && items[i].timestamp_nanos > uint64_t{std::numeric_limits<int64_t>::max()}) {
      return RaiseInvalid("timestamp %zu is %lld: before 1970, or no time (NaT)", i,
                          static_cast<long long>(items[i].timestamp_nanos));
    }
    items[i].value = {static_cast<const char*>(values->buf) + width * i, width};
  }
  return AddAll(self, entity_id, items);
}

PyObject* RemoveValue(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  std::array<Argument, 2> wanted = {{{"entity_id"}, {"value"}}};
  std::string_view entity_id;
  std::string_view value;
  if (!Bind("remove_value", args, count, names, wanted, 2) ||
      !ToName(wanted[0].value, "entity_id", &entity_id) || !ToValue(wanted[1].value, &value)) {
    return nullptr;
  }
  const ListRef list(*Self(self)->feature, entity_id);
  return Remove(
      self, [&](ListStore& store) { return store.RemoveListItemsWithValue(list, value); },
      [&](ListCache& cache) { return cache.RemoveListItemsWithValue(list, value); });
}

PyObject* RemoveAll(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  std::string_view entity_id;
  if (!OnlyEntity("remove_all", args, count, names, &entity_id)) return nullptr;
  const ListRef list(*Self(self)->feature, entity_id);
  return Remove(
      self, [&](ListStore& store) { return store.RemoveAllListItems(list); },
      [&](ListCache& cache) { return cache.RemoveAllListItems(list); });
}

// ---- Lists put whole ----

PyObject* LoadMark(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  std::string_view entity_id;
  if (!OnlyEntity("load_mark", args, count, names, &entity_id)) return nullptr;
  const Call call(Self(self)->store);
  if (!call) return nullptr;
  const absl::StatusOr<uint64_t> mark = call.store().LoadMark({*Self(self)->feature, entity_id});
  return mark.ok() ? PyLong_FromUnsignedLongLong(*mark) : Raise(mark.status());
}

PyObject* Put(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  std::array<Argument, 4> wanted = {{{"entity_id"}, {"items"}, {"fresh_until_seconds"}, {"mark"}}};
  std::string_view entity_id;
  ParsedItems items;
  PutListOptions options;
  if (!Bind("put", args, count, names, wanted, 2) ||
      !ToName(wanted[0].value, "entity_id", &entity_id) || !items.Parse(wanted[1].value) ||
      (wanted[2].value != nullptr &&
       !ToSeconds(wanted[2].value, "fresh_until_seconds", &options.fresh_until_seconds))) {
    return nullptr;
  }
  PyObject* const mark = wanted[3].value;
  if (mark != nullptr && mark != Py_None &&
      !ToNanos(mark, "mark", &options.unless_written_since.emplace())) {
    return nullptr;
  }
  const Call call(Self(self)->store);
  if (!call) return nullptr;
  absl::StatusOr<bool> stored = false;
  {
    const WithoutGil gil(IsLong(call.state(), items.items().size()));
    stored = call.store().PutList({*Self(self)->feature, entity_id}, items.items(), options);
  }
  return stored.ok() ? PyBool_FromLong(*stored ? 1 : 0) : Raise(stored.status());
}

PyObject* Forget(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  std::string_view entity_id;
  if (!OnlyEntity("forget", args, count, names, &entity_id)) return nullptr;
  const Call call(Self(self)->store);
  if (!call) return nullptr;
  State& state = call.state();
  ListCache* const cache = state.cache.get();
  const ListRef list(*Self(self)->feature, entity_id);
  absl::StatusOr<bool> held = true;
  {
    const WithoutGil gil(IsLong(state, 0));
    if (cache != nullptr) {
      const absl::Status status = cache->Invalidate(list);
      if (!status.ok()) held = status;
    } else {
      held = call.store().ForgetList(list);
    }
  }
  return held.ok() ? PyBool_FromLong(*held ? 1 : 0) : Raise(held.status());
}

}  // namespace liststore::python
