#include "tools/python_cache/extension/store.h"

#include <pthread.h>
#include <unistd.h>

#include <functional>
#include <new>
#include <vector>

#include "tools/python_cache/extension/arguments.h"
#include "tools/python_cache/extension/errors.h"
#include "tools/python_cache/extension/guarded.h"
#include "tools/python_cache/extension/store_calls.h"

namespace liststore::python {

PyTypeObject* store_type = nullptr;

namespace {

// Of this process. fork() keeps it true, so that calls need not ask the system.
pid_t this_process = 0;

bool WasForked(const State& state) { return state.process != this_process; }

}  // namespace

void DestroyIfUnused(State& state) {
  if (state.store != nullptr || state.calls != 0 || state.views != 0) return;
  std::unique_ptr<ListCache> cache = std::move(state.cache);
  std::unique_ptr<ListStore> store = std::move(state.own_store);
  if (cache == nullptr && store == nullptr) return;
  if (WasForked(state)) {
    static_cast<void>(cache.release());
    static_cast<void>(store.release());
    return;
  }
  // Waits for refreshes, which run Python, and for the disk.
  const WithoutGil gil;
  cache.reset();
  store.reset();
}

Call::Call(StoreObject* object) : object_(object), store_(object->state->store) {
  if (store_ == nullptr) {
    Raise(absl::FailedPreconditionError("the store is closed"));
    return;
  }
  // The parent has its files; what its threads held when it forked is held for good here.
  if (object->state->has_threads && WasForked(*object->state)) {
    store_ = nullptr;
    Raise(absl::FailedPreconditionError(
        "the store, which has a data_dir or background_reclaim, is of the process that forked this "
        "one: open stores after the fork"));
    return;
  }
  ++object->state->calls;
}

Call::~Call() {
  if (store_ == nullptr) return;
  State& state = *object_->state;
  --state.calls;
  if (state.store == nullptr) DestroyIfUnused(state);
}

bool AddNumber(PyObject* dict, const char* name, uint64_t value) {
  const Ref number(PyLong_FromUnsignedLongLong(value));
  return number && PyDict_SetItemString(dict, name, number.get()) == 0;
}

bool BeginOpening(State& state, PyObject* arguments, const char* type) {
  if (PyTuple_Size(arguments) != 0) {
    PyErr_Format(PyExc_TypeError, "%s() takes its options by name", type);
    return false;
  }
  if (state.process != 0) {
    PyErr_Format(PyExc_TypeError, "a %s is opened once: make another one", type);
    return false;
  }
  state.process = this_process;
  return true;
}

PyTypeObject* AddType(PyObject* module, PyType_Spec* spec, const char* name, PyTypeObject* base) {
  const Ref bases(base == nullptr ? nullptr : PyTuple_Pack(1, base));
  if (base != nullptr && !bases) return nullptr;
  PyObject* const type = PyType_FromSpecWithBases(spec, bases.get());
  if (type == nullptr) return nullptr;
  // The module has a reference of its own; this one is kept for the life of the process.
  Py_INCREF(type);
  if (PyModule_AddObject(module, name, type) != 0) {
    Py_DECREF(type);
    return nullptr;
  }
  return reinterpret_cast<PyTypeObject*>(type);
}

PyObject* RefuseNew(PyTypeObject* type, PyObject*, PyObject*) {
  PyErr_Format(PyExc_TypeError, "%R has no constructor: its objects are made by a Store", type);
  return nullptr;
}

namespace {

StoreObject* Self(PyObject* self) { return reinterpret_cast<StoreObject*>(self); }

PyObject* NewStore(PyTypeObject* type, PyObject*, PyObject*) {
  PyObject* const self = PyType_GenericAlloc(type, 0);
  if (self == nullptr) return nullptr;
  Self(self)->state = new (std::nothrow) State();
  if (Self(self)->state != nullptr) return self;
  Py_DECREF(self);
  return PyErr_NoMemory();
}

int InitStore(PyObject* self, PyObject* arguments, PyObject* keywords) {
  State& state = *Self(self)->state;
  if (!BeginOpening(state, arguments, "Store")) return -1;
  const Ref rest(keywords == nullptr ? PyDict_New() : PyDict_Copy(keywords));
  OpenArguments opened;
  size_t policy = 0;
  uint64_t elsewhere = 0;
  if (!rest || !TakeOptions(rest.get(), &opened) ||
      !TakeWord(rest.get(), "memory_policy", {"reject", "evict"}, &policy) ||
      !TakeInteger(rest.get(), "lists_live_elsewhere", &elsewhere) ||
      !RefuseRest(rest.get(), "Store")) {
    return -1;
  }
  opened.options.memory_policy = static_cast<MemoryPolicy>(policy);
  opened.options.lists_live_elsewhere = elsewhere != 0;
  state.writes_to_disk = !opened.options.data_dir.empty();
  state.has_threads = state.writes_to_disk || opened.options.background_reclaim;
  state.callbacks.on_evicted = Ref::Borrowed(opened.on_evicted).Release();
  state.clock_object = Ref::Borrowed(opened.clock).Release();
  SetListeners(state, opened.options);
  absl::StatusOr<std::unique_ptr<ListStore>> store = OpenStore(std::move(opened));
  if (!store.ok()) {
    Raise(store.status());
    return -1;
  }
  state.own_store = *std::move(store);
  state.store = state.own_store.get();
  return 0;
}

int TraverseStore(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  const State* const state = Self(self)->state;
  if (state == nullptr) return 0;
  Py_VISIT(state->callbacks.on_evicted);
  Py_VISIT(state->callbacks.loader);
  Py_VISIT(state->callbacks.writer);
  Py_VISIT(state->callbacks.executor);
  Py_VISIT(state->clock_object);
  return 0;
}

int ClearStore(PyObject* self) {
  State* const state = Self(self)->state;
  if (state == nullptr) return 0;
  Py_CLEAR(state->callbacks.on_evicted);
  Py_CLEAR(state->callbacks.loader);
  Py_CLEAR(state->callbacks.writer);
  Py_CLEAR(state->callbacks.executor);
  return 0;
}

void CloseState(State& state) {
  state.store = nullptr;
  DestroyIfUnused(state);
}

void DeallocStore(PyObject* self) {
  PyObject_GC_UnTrack(self);
  if (State* const state = Self(self)->state) {
    // Nothing calls it any more: calls, features and views hold the object.
    CloseState(*state);
    ClearStore(self);
    Py_CLEAR(state->clock_object);
    delete state;
  }
  FreeObject(self);
}

PyObject* Close(PyObject* self, PyObject*) {
  CloseState(*Self(self)->state);
  return None();
}
PyObject* Enter(PyObject* self, PyObject*) {
  Py_INCREF(self);
  return self;
}
PyObject* Exit(PyObject* self, PyObject*) { return Close(self, nullptr); }

PyObject* IsClosed(PyObject* self, void*) {
  return PyBool_FromLong(Self(self)->state->store == nullptr ? 1 : 0);
}

PyMethodDef store_methods[] = {
    {"create_feature", Method<CreateFeature>(), kNamed,
     "create_feature(entity_type, feature, ttl_seconds) -> Feature\n\nMakes a feature with its "
     "version ''. ttl_seconds: 1 to 630,720,000. Raises AlreadyExists, InvalidArgument."},
    {"create_feature_version", Method<CreateVersion>(), kNamed,
     "create_feature_version(entity_type, feature, version, ttl_seconds=None) -> Feature\n\nAdds a "
     "version, with a TTL of its own or the feature's. Raises NotFound, AlreadyExists."},
    {"set_feature_ttl", Method<SetTtl>(), kNamed,
     "set_feature_ttl(entity_type, feature, ttl_seconds)\n\nFor items added from now on. Raises "
     "NotFound."},
    {"set_feature_version_ttl", Method<SetVersionTtl>(), kNamed,
     "set_feature_version_ttl(entity_type, feature, version, ttl_seconds)\n\nRaises NotFound."},
    {"delete_feature", Method<DeleteFeature>(), kNamed,
     "delete_feature(entity_type, feature)\n\nWith all versions and lists. Raises NotFound."},
    {"delete_feature_version", Method<DeleteVersion>(), kNamed,
     "delete_feature_version(entity_type, feature, version)\n\nWith its lists. Raises NotFound."},
    {"feature", Method<FindFeature>(), kNamed,
     "feature(entity_type, feature, version='') -> Feature\n\nThe lists of a feature, which need "
     "not exist yet. Keep it: it is looked up once."},
    {"features", Method<Features>(), METH_NOARGS,
     "features() -> list of (entity_type, feature, version, ttl_seconds), sorted"},
    {"add_multi", Method<AddMulti>(), METH_O,
     "add_multi(lists) -> (stored, skipped_expired)\n\nlists: (Feature, entity_id, items) each. "
     "All "
     "or nothing; at most 65,535 items."},
    {"put_multi", Method<PutMulti>(), kNamed,
     "put_multi(lists, fresh_until_seconds=0) -> list\n\nReplaces lists whole, each on its own: "
     "True "
     "where it was put, or the Error of it."},
    {"save", Method<Save>(), kNamed,
     "save(path, sync=True)\n\nWrites everything to a file, whole or not at all; load it by "
     "load_from=path."},
    {"snapshot", Method<Snapshot>(), METH_NOARGS,
     "snapshot() -> dict\n\nWrites everything to a snapshot in data_dir, and drops the log from "
     "before it. Raises FailedPrecondition without a data_dir."},
    {"sync", Method<Sync>(), METH_NOARGS,
     "sync()\n\nWhat was done before survives a loss of power."},
    {"move_clock", Method<MoveClock>(), METH_O,
     "move_clock(now_nanos)\n\nMoves the ManualClock, and keeps where it stands."},
    {"stats", Method<GetStats>(), METH_NOARGS,
     "stats() -> dict\n\nLists, items, bytes, hits and misses, evictions."},
    {"cache_stats", Method<CacheStatsOf>(), METH_NOARGS,
     "cache_stats() -> dict\n\nOf a Cache with a loader: loads, failures, time in the loader."},
    {"metrics_text", Method<Metrics>(), METH_NOARGS,
     "metrics_text() -> str\n\nA page for Prometheus."},
    {"reclaim", Method<Reclaim>(), kNamed,
     "reclaim(budget=1000) -> int\n\nGives memory of expired and deleted items back; 0: nothing "
     "is left to do."},
    {"set_memory_limit", Method<SetMemoryLimit>(), METH_O,
     "set_memory_limit(bytes)\n\nAt least 1 MiB. Raises ResourceExhausted where more is held; the "
     "limit is taken all the same."},
    {"next_expiry_seconds", Method<NextExpiry>(), METH_NOARGS,
     "next_expiry_seconds() -> int or None\n\nNothing expires before it; seconds since 1970."},
    {"notices", Method<Notices>(), METH_NOARGS,
     "notices() -> list of str\n\nWhat was said about data_dir since the last call; the newest "
     "1,000 lines."},
    {"close", Method<Close>(), METH_NOARGS,
     "close()\n\nEnds it for calls. Memory and data_dir are let go when the last view is."},
    {"__enter__", Method<Enter>(), METH_NOARGS, nullptr},
    {"__exit__", Method<Exit>(), METH_VARARGS, nullptr},
    {nullptr, nullptr, 0, nullptr}};

PyGetSetDef store_members[] = {{"closed", IsClosed, nullptr, "Whether it was closed.", nullptr},
                               {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyType_Slot store_slots[] = {
    {Py_tp_new, SafeSlot<NewStore>()},
    {Py_tp_init, SafeSlot<InitStore>()},
    {Py_tp_dealloc, Slot(DeallocStore)},
    {Py_tp_traverse, Slot(TraverseStore)},
    {Py_tp_clear, Slot(ClearStore)},
    {Py_tp_methods, store_methods},
    {Py_tp_getset, store_members},
    {Py_tp_doc, const_cast<char*>("Lists in the memory of this process. Options: see the stub.")},
    {0, nullptr}};
PyType_Spec store_spec = {"liststore_cache.Store", sizeof(StoreObject), 0,
                          Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE,
                          store_slots};

PyType_Slot cache_slots[] = {
    {Py_tp_init, SafeSlot<InitCache>()},
    {Py_tp_doc,
     const_cast<char*>("A store that evicts, in front of a slower one. Options: see the stub.")},
    {0, nullptr}};
PyType_Spec cache_spec = {"liststore_cache.Cache", sizeof(StoreObject), 0,
                          Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, cache_slots};

}  // namespace

PyTypeObject* cache_type = nullptr;

bool AddStoreTypes(PyObject* module) {
  this_process = getpid();
  if (pthread_atfork(nullptr, nullptr, [] { this_process = getpid(); }) != 0) {
    PyErr_NoMemory();
    return false;
  }
  store_type = AddType(module, &store_spec, "Store", nullptr);
  if (store_type == nullptr) return false;
  cache_type = AddType(module, &cache_spec, "Cache", store_type);
  return cache_type != nullptr;
}

}  // namespace liststore::python
