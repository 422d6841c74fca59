// Feature: the lists of one feature version.
#include <new>

#include "tools/python_cache/extension/arguments.h"
#include "tools/python_cache/extension/errors.h"
#include "tools/python_cache/extension/feature_calls.h"
#include "tools/python_cache/extension/guarded.h"
#include "tools/python_cache/extension/store.h"

namespace liststore::python {

PyTypeObject* feature_type = nullptr;

namespace {

FeatureObject* Self(PyObject* self) { return reinterpret_cast<FeatureObject*>(self); }

int TraverseFeature(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(reinterpret_cast<PyObject*>(Self(self)->store));
  return 0;
}

void DeallocFeature(PyObject* self) {
  PyObject_GC_UnTrack(self);
  delete Self(self)->feature;
  Py_CLEAR(Self(self)->names);
  StoreObject* const store = std::exchange(Self(self)->store, nullptr);
  Py_XDECREF(reinterpret_cast<PyObject*>(store));
  FreeObject(self);
}

PyObject* NameOf(PyObject* self, void* place) {
  PyObject* const name = PyTuple_GetItem(
      Self(self)->names, static_cast<Py_ssize_t>(reinterpret_cast<intptr_t>(place)));
  Py_XINCREF(name);
  return name;
}

PyObject* StoreOf(PyObject* self, void*) {
  auto* const store = reinterpret_cast<PyObject*>(Self(self)->store);
  Py_INCREF(store);
  return store;
}

PyObject* FeatureText(PyObject* self) {
  return PyUnicode_FromFormat("<liststore_cache.Feature %R>", Self(self)->names);
}

PyMethodDef feature_methods[] = {
    {"newest", Method<Newest>(), kNamed,
     "newest(entity_id, limit=100, since_nanos=None, before_nanos=None) -> list\n\nThe newest "
     "items "
     "as pairs (timestamp_nanos, value), newest first; since_nanos inclusive, before_nanos "
     "exclusive. The quickest read of a few."},
    {"items", Method<ReadItems>(), kNamed,
     "items(entity_id, limit=100, since_nanos=None, before_nanos=None, with_expiry=False) -> "
     "Items\n\nThe same as one object, with arrays of numpy, presence and freshness."},
    {"view", Method<ReadView>(), kNamed,
     "view(entity_id, limit=100, since_nanos=None, before_nanos=None, with_expiry=False) -> "
     "Items\n\nThe items in place, pinned until the object and its arrays are gone. Of what the "
     "store has: a loader is not asked."},
    {"multi_get", Method<MultiGet>(), kNamed,
     "multi_get(entity_ids, limit=100, since_nanos=None, before_nanos=None, with_expiry=False) -> "
     "MultiItems\n\nMany lists in one array each."},
    {"count", Method<Count>(), kNamed,
     "count(entity_id, since_nanos=None, before_nanos=None) -> int\n\nOf what the store has."},
    {"lists", Method<ForEachList>(), METH_NOARGS,
     "lists() -> list of str\n\nThe entity ids with a live item. Walks over the whole store."},
    {"add", Method<Add>(), kNamed,
     "add(entity_id, timestamp_nanos, value) -> bool\n\nOne item; value is bytes. False: its time "
     "is over. Raises NotFound where the feature does not exist, ResourceExhausted."},
    {"add_items", Method<AddItems>(), kNamed,
     "add_items(entity_id, items) -> (stored, skipped_expired)\n\nitems: pairs (timestamp_nanos, "
     "value); all or none; at most 65,535."},
    {"add_arrays", Method<AddArrays>(), kNamed,
     "add_arrays(entity_id, timestamps, values) -> (stored, skipped_expired)\n\ntimestamps: int64 "
     "or uint64, none below 0; values: an array of as many elements, whose bytes are the values. "
     "Raises TypeError for objects and pointers."},
    {"remove_value", Method<RemoveValue>(), kNamed,
     "remove_value(entity_id, value) -> int or None\n\nHow many items had it. None of a Cache with "
     "a "
     "loader."},
    {"remove_all", Method<RemoveAll>(), kNamed,
     "remove_all(entity_id) -> int or None\n\nHow many items there were. None of a Cache with a "
     "loader."},
    {"load_mark", Method<LoadMark>(), kNamed,
     "load_mark(entity_id) -> int\n\nTake it before a list is loaded: put(mark=...) is refused if "
     "the list changed since."},
    {"put", Method<Put>(), kNamed,
     "put(entity_id, items, fresh_until_seconds=0, mark=None) -> bool\n\nReplaces the whole list, "
     "which is complete then. False: refused because of the mark."},
    {"forget", Method<Forget>(), kNamed,
     "forget(entity_id) -> bool\n\nDrops what the store holds of a list, which is absent then. Of "
     "a "
     "Cache with a loader: the next read loads it; True always."},
    {nullptr, nullptr, 0, nullptr}};

PyGetSetDef feature_members[] = {
    {"entity_type", NameOf, nullptr, nullptr, reinterpret_cast<void*>(0)},
    {"feature", NameOf, nullptr, nullptr, reinterpret_cast<void*>(1)},
    {"version", NameOf, nullptr, nullptr, reinterpret_cast<void*>(2)},
    {"store", StoreOf, nullptr, "The Store or Cache that it is of.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyType_Slot feature_slots[] = {
    {Py_tp_new, Slot(RefuseNew)},
    {Py_tp_dealloc, Slot(DeallocFeature)},
    {Py_tp_traverse, Slot(TraverseFeature)},
    {Py_tp_repr, Slot(FeatureText)},
    {Py_tp_methods, feature_methods},
    {Py_tp_getset, feature_members},
    {Py_tp_doc, const_cast<char*>("The lists of one feature version. Made by a Store.")},
    {0, nullptr}};
PyType_Spec feature_spec = {"liststore_cache.Feature", sizeof(FeatureObject), 0,
                            Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, feature_slots};

}  // namespace

bool AddFeatureType(PyObject* module) {
  feature_type = AddType(module, &feature_spec, "Feature", nullptr);
  return feature_type != nullptr;
}

}  // namespace liststore::python
