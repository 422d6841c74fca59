#include "tools/python_cache/extension/results.h"

#include <array>
#include <cstring>
#include <limits>
#include <new>

#include "tools/python_cache/extension/errors.h"
#include "tools/python_cache/extension/guarded.h"

namespace liststore::python {
namespace {

// Of all of them 8 MiB at most, which no limit of a store counts; a larger one is given back to the heap.
constexpr size_t kScratchesMax = 16;
constexpr size_t kScratchBytesMax = size_t{512} << 10;

// Of a fixed size: objects that go give theirs back, and cannot fail.
struct Scratches {
  std::array<std::unique_ptr<ListItems>, kScratchesMax> free;
  size_t count = 0;
};

Scratches& AllScratches() {
  static auto* const scratches = new Scratches();
  return *scratches;
}

PyTypeObject* items_type = nullptr;

struct ItemsObject {
  PyObject_HEAD StoreObject* store;  // of a view; nullptr otherwise
  ListItems* copied;
  ListView* view;
  size_t size;
  Py_ssize_t exports;
  bool with_expiry;
};

ItemsObject* Self(PyObject* self) { return reinterpret_cast<ItemsObject*>(self); }

ListItemView ItemAt(const ItemsObject* self, size_t index) {
  return self->view != nullptr ? (*self->view)[index] : (*self->copied)[index];
}

void LetGo(ItemsObject* self) {
  self->size = 0;
  if (self->copied != nullptr) {
    GiveScratch(std::unique_ptr<ListItems>(std::exchange(self->copied, nullptr)));
  }
  if (self->view == nullptr) return;
  delete std::exchange(self->view, nullptr);
  StoreObject* const store = std::exchange(self->store, nullptr);
  --store->state->views;
  if (store->state->store == nullptr) DestroyIfUnused(*store->state);
  Py_DECREF(reinterpret_cast<PyObject*>(store));
}

void DeallocItems(PyObject* self) {
  LetGo(Self(self));
  FreeObject(self);
}

ItemsObject* AllocateItems(bool with_expiry) {
  auto* const self = Self(PyType_GenericAlloc(items_type, 0));
  if (self != nullptr) self->with_expiry = with_expiry;
  return self;
}

// ---- One after the other ----

Py_ssize_t ItemsSize(PyObject* self) { return static_cast<Py_ssize_t>(Self(self)->size); }

PyObject* ToPair(const ListItemView& item) {
  PyObject* const pair = PyTuple_New(2);
  if (pair == nullptr) return nullptr;
  PyObject* const nanos = PyLong_FromUnsignedLongLong(item.timestamp_nanos);
  PyObject* const value = ToBytesObject(item.value);
  // Takes both, also where they are nullptr.
  PyTuple_SetItem(pair, 0, nanos);
  PyTuple_SetItem(pair, 1, value);
  if (nanos != nullptr && value != nullptr) [[likely]] {
    return pair;
  }
  Py_DECREF(pair);
  return nullptr;
}

PyObject* ItemOf(PyObject* self, Py_ssize_t index) {
  if (index < 0 || index >= ItemsSize(self)) {
    PyErr_Format(PyExc_IndexError, "item %zd of a result of %zd", index, ItemsSize(self));
    return nullptr;
  }
  return ToPair(ItemAt(Self(self), static_cast<size_t>(index)));
}

template <typename ItemOfIndex>
PyObject* ToList(size_t size, const ItemOfIndex& item_of) {
  PyObject* const list = PyList_New(static_cast<Py_ssize_t>(size));
  if (list == nullptr) return nullptr;
  for (size_t i = 0; i < size; ++i) {
    PyObject* const item = item_of(i);
    if (item == nullptr) {
      Py_DECREF(list);
      return nullptr;
    }
    PyList_SetItem(list, static_cast<Py_ssize_t>(i), item);
  }
  return list;
}

PyObject* ItemsToList(PyObject* self, PyObject*) {
  return ToList(Self(self)->size, [&](size_t i) { return ToPair(ItemAt(Self(self), i)); });
}
PyObject* ValueList(PyObject* self, PyObject*) {
  return ToList(Self(self)->size,
                [&](size_t i) { return ToBytesObject(ItemAt(Self(self), i).value); });
}
PyObject* ItemKeys(PyObject* self, PyObject*) {
  return ToList(Self(self)->size,
                [&](size_t i) { return ToText(ItemAt(Self(self), i).item_key()); });
}

// ---- Arrays ----

// bytes that hold one int64 for each item.
template <typename NumberOf>
PyObject* ToInt64Bytes(const ItemsObject* self, const NumberOf& number_of) {
  PyObject* const bytes =
      PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(self->size * sizeof(int64_t)));
  if (bytes == nullptr) return nullptr;
  char* const out = PyBytes_AsString(bytes);
  for (size_t i = 0; i < self->size; ++i) {
    const int64_t number = number_of(ItemAt(self, i));
    std::memcpy(out + i * sizeof(number), &number, sizeof(number));
  }
  return bytes;
}

PyObject* TimestampBytes(PyObject* self, PyObject*) {
  // The newest comes first.
  if (Self(self)->size > 0 &&
      ItemAt(Self(self), 0).timestamp_nanos > uint64_t{std::numeric_limits<int64_t>::max()}) {
    PyErr_SetString(PyExc_OverflowError,
                    "item 0 is after 2262, which int64 nanoseconds cannot say: use tolist(), or "
                    "read with before_nanos=2**63");
    return nullptr;
  }
  return ToInt64Bytes(Self(self), [](const ListItemView& item) {
    return static_cast<int64_t>(item.timestamp_nanos);
  });
}

PyObject* ExpiryBytes(PyObject* self, PyObject*) {
  if (!Self(self)->with_expiry) return RaiseInvalid("the read was made without with_expiry=True");
  return ToInt64Bytes(Self(self), [](const ListItemView& item) { return item.expires_at_seconds; });
}

// The key of a row of one piece (ListItems, ListView), which lies before its value.
constexpr size_t kRowKeyBytes = 24;

// Where values of one width lie, each `stride` bytes behind the one before. In rows: each row begins where
// the one before ends, so that there is nothing between them. Values that were copied one by one, each into
// a piece of the heap, have more between them, however evenly they lie.
struct Layout {
  const char* first = nullptr;
  size_t width = 0;
  size_t stride = 0;
  bool same_width = true;
  bool in_rows = true;
};

Layout LayoutOf(const ItemsObject* self) {
  Layout layout;
  if (self->size == 0) return layout;
  const std::string_view first = ItemAt(self, 0).value;
  layout.first = first.data();
  layout.width = first.size();
  layout.stride = kRowKeyBytes + layout.width;
  for (size_t i = 1; i < self->size; ++i) {
    const std::string_view value = ItemAt(self, i).value;
    if (value.size() != layout.width) layout.same_width = false;
    // By address: pieces of different blocks may follow each other backwards.
    const auto distance =
        reinterpret_cast<uintptr_t>(value.data()) - reinterpret_cast<uintptr_t>(layout.first);
    if (distance != i * layout.stride) layout.in_rows = false;
  }
  return layout;
}

// (buffer, count, width, stride): of values that have one width. The buffer is this object, or bytes
// where the values do not lie in one piece.
PyObject* ValueLayout(PyObject* self, PyObject*) {
  const Layout layout = LayoutOf(Self(self));
  const auto count = static_cast<Py_ssize_t>(Self(self)->size);
  if (!layout.same_width) {
    return RaiseInvalid("the values differ in length: use value_list() or tolist()");
  }
  const auto width = static_cast<Py_ssize_t>(layout.width);
  if (layout.in_rows && count > 0) {
    return Py_BuildValue("(Onnn)", self, count, width, static_cast<Py_ssize_t>(layout.stride));
  }
  const Ref bytes(PyBytes_FromStringAndSize(nullptr, count * width));
  if (!bytes) return nullptr;
  char* out = PyBytes_AsString(bytes.get());
  for (size_t i = 0; i < Self(self)->size; ++i, out += width) {
    if (width > 0) std::memcpy(out, ItemAt(Self(self), i).value.data(), layout.width);
  }
  return Py_BuildValue("(Onnn)", bytes.get(), count, width, width);
}

// The piece of memory from the first value to the end of the last: what arrays of values point into.
int GetBuffer(PyObject* self, Py_buffer* buffer, int flags) {
  const Layout layout = LayoutOf(Self(self));
  if (Self(self)->size == 0 || !layout.in_rows || !layout.same_width) {
    buffer->obj = nullptr;
    PyErr_SetString(PyExc_BufferError, "these values do not lie in one piece: use value_list()");
    return -1;
  }
  const size_t bytes = (Self(self)->size - 1) * layout.stride + layout.width;
  const int status = PyBuffer_FillInfo(buffer, self, const_cast<char*>(layout.first),
                                       static_cast<Py_ssize_t>(bytes), 1, flags);
  if (status == 0) ++Self(self)->exports;
  return status;
}
void ReleaseBuffer(PyObject* self, Py_buffer*) { --Self(self)->exports; }

PyObject* Release(PyObject* self, PyObject*) {
  if (Self(self)->exports > 0) {
    PyErr_Format(PyExc_BufferError, "%zd arrays still show these items", Self(self)->exports);
    return nullptr;
  }
  LetGo(Self(self));
  return None();
}

PyObject* IsPinned(PyObject* self, void*) {
  return PyBool_FromLong(Self(self)->view != nullptr ? 1 : 0);
}
PyObject* CopiedItems(PyObject* self, void*) {
  const ItemsObject* const items = Self(self);
  return PyLong_FromSize_t(items->view != nullptr ? items->view->copied_items() : items->size);
}
PyObject* PresenceOf(PyObject* self, void*) {
  if (Self(self)->copied == nullptr) return None();
  return PyLong_FromLong(static_cast<long>(Self(self)->copied->presence()));
}
PyObject* FreshUntil(PyObject* self, void*) {
  if (Self(self)->copied == nullptr) return None();
  return PyLong_FromLongLong(Self(self)->copied->fresh_until_seconds());
}

// ---- As numpy's ----

PyObject* Timestamps(PyObject* self, void*) {
  const Ref bytes(TimestampBytes(self, nullptr));
  return bytes ? CallArrays("int64_array", bytes.get(), nullptr) : nullptr;
}
PyObject* Expiries(PyObject* self, void*) {
  const Ref bytes(ExpiryBytes(self, nullptr));
  return bytes ? CallArrays("int64_array", bytes.get(), nullptr) : nullptr;
}
PyObject* Values(PyObject* self, PyObject* arguments) {
  PyObject* type = Py_None;
  if (!PyArg_ParseTuple(arguments, "|O:values", &type)) return nullptr;
  const Ref layout(ValueLayout(self, nullptr));
  return layout ? CallArrays("value_array", layout.get(), type) : nullptr;
}

PyMethodDef items_methods[] = {
    {"tolist", Method<ItemsToList>(), METH_NOARGS,
     "tolist() -> list of (timestamp_nanos, value), newest first"},
    {"value_list", Method<ValueList>(), METH_NOARGS, "value_list() -> list of bytes, newest first"},
    {"values", Method<Values>(), METH_VARARGS,
     "values(dtype=None) -> numpy array\n\nThe values in place, without a copy, where they have "
     "one "
     "width: as void of that width, or as `dtype` of it ('S8', '<i8'). The items stay while the "
     "array does. Raises InvalidArgument where widths differ."},
    {"item_keys", Method<ItemKeys>(), METH_NOARGS,
     "item_keys() -> list of str\n\nThe keys as CQL shows them."},
    {"release", Method<Release>(), METH_NOARGS,
     "release()\n\nLets the items go now. Raises BufferError while arrays of values show them."},
    {nullptr, nullptr, 0, nullptr}};
PyGetSetDef items_members[] = {
    {"timestamps", Timestamps, nullptr,
     "numpy int64: nanoseconds since 1970, newest first. One copy, since the store keeps them in "
     "another form. Raises OverflowError after the year 2262.",
     nullptr},
    {"expires_at_seconds", Getter<Expiries>(), nullptr,
     "numpy int64: seconds since 1970; of a read with with_expiry=True.", nullptr},
    {"presence", PresenceOf, nullptr,
     "How much of the list the store has: 0 absent, 1 partial, 2 complete. None of a view.",
     nullptr},
    {"fresh_until_seconds", FreshUntil, nullptr,
     "As the list was put; 0: always fresh. None of a view.", nullptr},
    {"pinned", IsPinned, nullptr, "Whether the items lie in the store.", nullptr},
    {"copied_items", CopiedItems, nullptr, "How many of them were copied.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyType_Slot items_slots[] = {
    {Py_tp_new, Slot(RefuseNew)},
    {Py_tp_dealloc, Slot(DeallocItems)},
    {Py_tp_methods, items_methods},
    {Py_tp_getset, items_members},
    {Py_sq_length, Slot(ItemsSize)},
    {Py_sq_item, Slot(ItemOf)},
    {Py_bf_getbuffer, Slot(GetBuffer)},
    {Py_bf_releasebuffer, Slot(ReleaseBuffer)},
    {Py_tp_doc, const_cast<char*>("Items of one list, newest first: a sequence of pairs "
                                  "(timestamp_nanos, value), and arrays of numpy.")},
    {0, nullptr}};
PyType_Spec items_spec = {"liststore_cache.Items", sizeof(ItemsObject), 0, Py_TPFLAGS_DEFAULT,
                          items_slots};

}  // namespace

PyObject* CallArrays(const char* function, PyObject* self, PyObject* argument) {
  static PyObject* arrays_module = nullptr;  // kept for the life of the process
  if (arrays_module == nullptr) {
    arrays_module = PyImport_ImportModule("liststore_cache._arrays");
    if (arrays_module == nullptr) return nullptr;
  }
  const Ref found(PyObject_GetAttrString(arrays_module, function));
  if (!found) return nullptr;
  return PyObject_CallFunctionObjArgs(found.get(), self, argument, nullptr);
}

std::unique_ptr<ListItems> TakeScratch() {
  Scratches& scratches = AllScratches();
  if (scratches.count == 0) return std::make_unique<ListItems>();
  return std::move(scratches.free[--scratches.count]);
}

void GiveScratch(std::unique_ptr<ListItems> scratch) {
  Scratches& scratches = AllScratches();
  if (scratch == nullptr || scratch->held_bytes() > kScratchBytesMax ||
      scratches.count == kScratchesMax) {
    return;
  }
  scratches.free[scratches.count++] = std::move(scratch);
}

PyObject* ToPairs(const ListItems& items) {
  return ToList(items.size(), [&](size_t i) { return ToPair(items[i]); });
}

PyObject* NewItems(std::unique_ptr<ListItems>& copied, bool with_expiry) {
  ItemsObject* const self = AllocateItems(with_expiry);
  if (self == nullptr) return nullptr;
  self->size = copied->size();
  self->copied = copied.release();
  return reinterpret_cast<PyObject*>(self);
}

PyObject* NewView(StoreObject* store, std::unique_ptr<ListView> view, bool with_expiry) {
  ItemsObject* const self = AllocateItems(with_expiry);
  if (self == nullptr) return nullptr;
  Py_INCREF(reinterpret_cast<PyObject*>(store));
  self->store = store;
  ++store->state->views;
  self->size = view->size();
  self->view = view.release();
  return reinterpret_cast<PyObject*>(self);
}

bool AddResultTypes(PyObject* module) {
  items_type = AddType(module, &items_spec, "Items", nullptr);
  return items_type != nullptr && AddMultiItemsTypes(module);
}

}  // namespace liststore::python
