// MultiItems: columns of many lists.
#include <cstring>
#include <limits>
#include <new>

#include "tools/python_cache/extension/errors.h"
#include "tools/python_cache/extension/guarded.h"
#include "tools/python_cache/extension/results.h"

namespace liststore::python {
namespace {

PyTypeObject* multi_items_type = nullptr;
PyTypeObject* column_type = nullptr;

struct MultiItemsObject {
  PyObject_HEAD Columns* columns;
};

// A piece of memory of a MultiItems, as Python's buffers are.
struct ColumnObject {
  PyObject_HEAD PyObject* owner;
  const void* data;
  size_t bytes;
};

const Columns& ColumnsOf(PyObject* self) {
  return *reinterpret_cast<MultiItemsObject*>(self)->columns;
}

ColumnObject* Column(PyObject* self) { return reinterpret_cast<ColumnObject*>(self); }

int GetColumnBuffer(PyObject* self, Py_buffer* buffer, int flags) {
  return PyBuffer_FillInfo(buffer, self, const_cast<void*>(Column(self)->data),
                           static_cast<Py_ssize_t>(Column(self)->bytes), 1, flags);
}

void DeallocColumn(PyObject* self) {
  Py_CLEAR(Column(self)->owner);
  FreeObject(self);
}

template <typename T>
PyObject* NewColumn(PyObject* owner, const std::vector<T>& numbers) {
  PyObject* const self = PyType_GenericAlloc(column_type, 0);
  if (self == nullptr) return nullptr;
  // A buffer of nothing still has a place.
  Column(self)->data = numbers.empty() ? static_cast<const void*>("") : numbers.data();
  Column(self)->bytes = numbers.size() * sizeof(T);
  Column(self)->owner = owner;
  Py_INCREF(owner);
  return self;
}

void DeallocMultiItems(PyObject* self) {
  delete reinterpret_cast<MultiItemsObject*>(self)->columns;
  FreeObject(self);
}

Py_ssize_t Lists(PyObject* self) {
  return static_cast<Py_ssize_t>(ColumnsOf(self).presence.size());
}

PyObject* PairOf(const Columns& columns, size_t item) {
  const auto first = static_cast<size_t>(columns.value_offsets[item]);
  const auto end = static_cast<size_t>(columns.value_offsets[item + 1]);
  const std::string_view value(columns.values.data() + first, end - first);
  const Ref bytes(ToBytesObject(value));
  const Ref nanos(
      PyLong_FromUnsignedLongLong(static_cast<unsigned long long>(columns.timestamps[item])));
  return bytes && nanos ? PyTuple_Pack(2, nanos.get(), bytes.get()) : nullptr;
}

PyObject* ListOf(PyObject* self, Py_ssize_t index) {
  if (index < 0 || index >= Lists(self)) {
    PyErr_Format(PyExc_IndexError, "list %zd of a result of %zd", index, Lists(self));
    return nullptr;
  }
  const Columns& columns = ColumnsOf(self);
  const auto first = static_cast<size_t>(columns.offsets[static_cast<size_t>(index)]);
  const auto end = static_cast<size_t>(columns.offsets[static_cast<size_t>(index) + 1]);
  Ref list(PyList_New(static_cast<Py_ssize_t>(end - first)));
  if (!list) return nullptr;
  for (size_t i = first; i < end; ++i) {
    PyObject* const pair = PairOf(columns, i);
    if (pair == nullptr) return nullptr;
    PyList_SetItem(list.get(), static_cast<Py_ssize_t>(i - first), pair);
  }
  return list.Release();
}

template <typename T>
PyObject* Int64Column(PyObject* self, const std::vector<T>& numbers) {
  const Ref column(NewColumn(self, numbers));
  return column ? CallArrays("int64_array", column.get(), nullptr) : nullptr;
}

PyObject* Offsets(PyObject* self, void*) { return Int64Column(self, ColumnsOf(self).offsets); }
PyObject* ValueOffsets(PyObject* self, void*) {
  return Int64Column(self, ColumnsOf(self).value_offsets);
}
PyObject* Timestamps(PyObject* self, void*) {
  if (!ColumnsOf(self).beyond_int64) return Int64Column(self, ColumnsOf(self).timestamps);
  PyErr_SetString(PyExc_OverflowError,
                  "an item is after 2262, which int64 nanoseconds cannot say: read with "
                  "before_nanos=2**63, or take the lists one by one");
  return nullptr;
}
PyObject* Expiries(PyObject* self, void*) {
  if (ColumnsOf(self).with_expiry) return Int64Column(self, ColumnsOf(self).expires);
  return RaiseInvalid("the read was made without with_expiry=True");
}
PyObject* FreshUntil(PyObject* self, void*) {
  return Int64Column(self, ColumnsOf(self).fresh_until);
}
PyObject* Presence(PyObject* self, void*) {
  const Ref column(NewColumn(self, ColumnsOf(self).presence));
  return column ? CallArrays("byte_array", column.get(), nullptr) : nullptr;
}
PyObject* ValueBytes(PyObject* self, void*) {
  const Ref column(NewColumn(self, ColumnsOf(self).values));
  return column ? CallArrays("byte_array", column.get(), nullptr) : nullptr;
}

PyObject* Values(PyObject* self, PyObject* arguments) {
  PyObject* type = Py_None;
  if (!PyArg_ParseTuple(arguments, "|O:values", &type)) return nullptr;
  const Columns& columns = ColumnsOf(self);
  if (!columns.same_width) {
    return RaiseInvalid("the values differ in length: use value_bytes and value_offsets");
  }
  const size_t count = columns.timestamps.size();
  const auto width = static_cast<Py_ssize_t>(count == 0 ? 0 : columns.values.size() / count);
  const Ref column(NewColumn(self, columns.values));
  if (!column) return nullptr;
  const Ref layout(
      Py_BuildValue("(Onnn)", column.get(), static_cast<Py_ssize_t>(count), width, width));
  return layout ? CallArrays("value_array", layout.get(), type) : nullptr;
}

PyObject* ToArrow(PyObject* self, PyObject*) { return CallArrays("arrow_array", self, nullptr); }
PyObject* ArrowCArray(PyObject* self, PyObject* arguments) {
  PyObject* schema = Py_None;
  if (!PyArg_ParseTuple(arguments, "|O:__arrow_c_array__", &schema)) return nullptr;
  return CallArrays("arrow_c_array", self, schema);
}

PyMethodDef multi_methods[] = {
    {"values", Method<Values>(), METH_VARARGS,
     "values(dtype=None) -> numpy array\n\nThe values of all lists, where they have one width: as "
     "void of that width, or as `dtype` of it. Raises InvalidArgument where widths differ."},
    {"to_arrow", Method<ToArrow>(), METH_NOARGS,
     "to_arrow() -> pyarrow.ListArray of struct<timestamp_nanos: int64, value: binary>\n\nWithout "
     "a "
     "copy of timestamps and values. Raises ImportError without pyarrow."},
    {"__arrow_c_array__", Method<ArrowCArray>(), METH_VARARGS,
     "Arrow's C data interface, by pyarrow: what Polars and DuckDB take."},
    {nullptr, nullptr, 0, nullptr}};
PyGetSetDef multi_members[] = {
    {"offsets", Offsets, nullptr,
     "numpy int64, one more than lists: items of list i are offsets[i] to offsets[i + 1].",
     nullptr},
    {"timestamps", Timestamps, nullptr,
     "numpy int64: nanoseconds since 1970, newest first in each list.", nullptr},
    {"value_offsets", ValueOffsets, nullptr,
     "numpy int64, one more than items: where values lie in value_bytes.", nullptr},
    {"value_bytes", ValueBytes, nullptr, "numpy uint8: all values, one after the other.", nullptr},
    {"expires_at_seconds", Getter<Expiries>(), nullptr,
     "numpy int64: seconds since 1970; of a read with with_expiry=True.", nullptr},
    {"presence", Presence, nullptr,
     "numpy uint8, one for each list: 0 absent, 1 partial, 2 complete.", nullptr},
    {"fresh_until_seconds", FreshUntil, nullptr,
     "numpy int64, one for each list, as it was put; 0: always fresh.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyType_Slot multi_slots[] = {
    {Py_tp_new, Slot(RefuseNew)},
    {Py_tp_dealloc, Slot(DeallocMultiItems)},
    {Py_tp_methods, multi_methods},
    {Py_tp_getset, multi_members},
    {Py_sq_length, Slot(Lists)},
    {Py_sq_item, Slot(ListOf)},
    {Py_tp_doc, const_cast<char*>("Items of many lists in one array each. [i] is list i as pairs "
                                  "(timestamp_nanos, value).")},
    {0, nullptr}};
PyType_Spec multi_spec = {"liststore_cache.MultiItems", sizeof(MultiItemsObject), 0,
                          Py_TPFLAGS_DEFAULT, multi_slots};

PyType_Slot column_slots[] = {{Py_tp_new, Slot(RefuseNew)},
                              {Py_tp_dealloc, Slot(DeallocColumn)},
                              {Py_bf_getbuffer, Slot(GetColumnBuffer)},
                              {0, nullptr}};
PyType_Spec column_spec = {"liststore_cache._Column", sizeof(ColumnObject), 0, Py_TPFLAGS_DEFAULT,
                           column_slots};

}  // namespace

void Columns::Append(const ListItems& list) {
  const size_t first = timestamps.size();
  const size_t end = first + list.size();
  timestamps.resize(end);
  value_offsets.resize(end + 1);
  if (with_expiry) expires.resize(end);
  size_t width = first == 0 ? 0 : static_cast<size_t>(value_offsets[1]);
  for (size_t i = 0; i < list.size(); ++i) {
    const ListItemView item = list[i];
    if (first + i == 0) width = item.value.size();
    if (item.value.size() != width) same_width = false;
    if (item.timestamp_nanos > uint64_t{std::numeric_limits<int64_t>::max()}) beyond_int64 = true;
    timestamps[first + i] = static_cast<int64_t>(item.timestamp_nanos);
    if (with_expiry) expires[first + i] = item.expires_at_seconds;
    values.insert(values.end(), item.value.begin(), item.value.end());
    value_offsets[first + i + 1] = static_cast<int64_t>(values.size());
  }
  offsets.push_back(static_cast<int64_t>(end));
  presence.push_back(static_cast<uint8_t>(list.presence()));
  fresh_until.push_back(list.fresh_until_seconds());
}

PyObject* NewMultiItems(std::unique_ptr<Columns> columns) {
  PyObject* const self = PyType_GenericAlloc(multi_items_type, 0);
  if (self == nullptr) return nullptr;
  reinterpret_cast<MultiItemsObject*>(self)->columns = columns.release();
  return self;
}

bool AddMultiItemsTypes(PyObject* module) {
  multi_items_type = AddType(module, &multi_spec, "MultiItems", nullptr);
  column_type = AddType(module, &column_spec, "_Column", nullptr);
  return multi_items_type != nullptr && column_type != nullptr;
}

}  // namespace liststore::python
