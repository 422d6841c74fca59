// Cache: options, loader, writer and executor.
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tools/python_cache/extension/arguments.h"
#include "tools/python_cache/extension/errors.h"
#include "tools/python_cache/extension/guarded.h"
#include "tools/python_cache/extension/store.h"

namespace liststore::python {
namespace {

PyObject* NameOfList(const ListId& list) {
  const Ref type(ToText(list.entity_type));
  const Ref feature(ToText(list.feature));
  const Ref version(ToText(list.version));
  const Ref entity(ToText(list.entity_id));
  if (!type || !feature || !version || !entity) return nullptr;
  return PyTuple_Pack(4, type.get(), feature.get(), version.get(), entity.get());
}

// Hands on what the loader said of lists, some at a time: a list that is put may wait for the disk, so
// Python's lock is let go for it, and to get it back may take longer than a list does.
class Answers {
 public:
  explicit Answers(ListLoad& load) : load_(load) {}

  // Of one list: items, None, or an exception. False: a Python error is set.
  bool Add(size_t index, PyObject* said) {
    if (said != Py_None) {
      const int is_error = PyObject_IsInstance(said, PyExc_Exception);
      if (is_error < 0) return false;
      if (is_error == 1) {
        load_.Fail(index, ExceptionStatus("loader", said));
        return true;
      }
    }
    Parsed& parsed = parsed_.emplace_back();
    parsed.index = index;
    if (said != Py_None && !parsed.items.Parse(said)) {
      parsed_.pop_back();
      return false;
    }
    items_ += parsed.items.items().size();
    if (parsed_.size() >= kListsOfALongCall || items_ >= kItemsOfALongCall) HandOn();
    return true;
  }

  void HandOn() {
    if (parsed_.empty()) return;
    {
      const WithoutGil gil;
      for (const Parsed& one : parsed_) load_.Answer(one.index, one.items.items());
    }
    parsed_.clear();
    items_ = 0;
  }

 private:
  struct Parsed {
    size_t index = 0;
    ParsedItems items;
  };

  ListLoad& load_;
  std::vector<Parsed> parsed_;
  size_t items_ = 0;
};

absl::Status CallLoader(const State& state, ListLoad& load) {
  const WithGil gil;
  const Ref loader = Ref::Borrowed(state.callbacks.loader);
  if (!loader) return absl::FailedPreconditionError("the cache is being closed");
  const Ref names(PyTuple_New(static_cast<Py_ssize_t>(load.size())));
  if (!names) return TakeCallbackError("loader");
  for (size_t i = 0; i < load.size(); ++i) {
    PyObject* const name = NameOfList(load.list(i));
    if (name == nullptr) return TakeCallbackError("loader");
    PyTuple_SetItem(names.get(), static_cast<Py_ssize_t>(i), name);
  }
  const Ref said(PyObject_CallFunctionObjArgs(loader.get(), names.get(), nullptr));
  if (!said) return TakeCallbackError("loader");
  const Ref answers(PySequence_Tuple(said.get()));
  if (!answers) return TakeCallbackError("loader");
  const auto count = static_cast<size_t>(PyTuple_Size(answers.get()));
  if (count != load.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the loader was asked for ", load.size(), " lists and answered with ", count));
  }
  Answers parsed(load);
  absl::Status status;
  for (size_t i = 0; i < count && status.ok(); ++i) {
    PyObject* const one = PyTuple_GetItem(answers.get(), static_cast<Py_ssize_t>(i));
    if (!parsed.Add(i, one)) status = TakeCallbackError("loader");
  }
  // Also after an error: the lists before it were answered.
  parsed.HandOn();
  return status;
}

// writer(list, kind, argument): "add" with items, "remove_value" with a value, "remove_all".
absl::Status CallWriter(const State& state, const ListChange& change) {
  const WithGil gil;
  const Ref writer = Ref::Borrowed(state.callbacks.writer);
  if (!writer) return absl::FailedPreconditionError("the cache is being closed");
  const Ref name(NameOfList(change.list));
  const char* kind = "remove_all";
  Ref argument(None());
  if (change.kind == ListChange::Kind::kAdd) {
    kind = "add";
    argument = Ref(PyList_New(static_cast<Py_ssize_t>(change.items.size())));
    for (size_t i = 0; argument && i < change.items.size(); ++i) {
      const NewItem& item = change.items[i];
      PyObject* const pair =
          Py_BuildValue("(Ky#)", static_cast<unsigned long long>(item.timestamp_nanos),
                        item.value.data() == nullptr ? "" : item.value.data(),
                        static_cast<Py_ssize_t>(item.value.size()));
      if (pair == nullptr) return TakeCallbackError("writer");
      PyList_SetItem(argument.get(), static_cast<Py_ssize_t>(i), pair);
    }
  } else if (change.kind == ListChange::Kind::kRemoveWithValue) {
    kind = "remove_value";
    argument = Ref(ToBytesObject(change.value));
  }
  const Ref kind_text(ToText(kind));
  if (!name || !argument || !kind_text) return TakeCallbackError("writer");
  const Ref said(PyObject_CallFunctionObjArgs(writer.get(), name.get(), kind_text.get(),
                                              argument.get(), nullptr));
  return said ? absl::OkStatus() : TakeCallbackError("writer");
}

// ---- Refreshes on an executor: submit(callable) ----

constexpr char kTaskName[] = "liststore_cache.refresh";

using Task = std::function<void()>;

// Nobody waits for a refresh: its error is counted, and not raised.
void RunTask(Task& task) {
  const WithoutGil gil;
  task();
}

PyObject* RunCapsule(PyObject* capsule, PyObject*) {
  auto* const task = static_cast<std::unique_ptr<Task>*>(PyCapsule_GetPointer(capsule, kTaskName));
  if (task == nullptr) return nullptr;
  if (const std::unique_ptr<Task> once = std::move(*task)) RunTask(*once);
  return None();
}

PyObject* RunDropped(Task* task) {
  RunTask(*task);
  return None();
}

// An executor that was shut down drops what it was given; the cache waits for all of them. Objects go
// at any time: an error that is set then stays.
void DestroyCapsule(PyObject* capsule) {
  auto* const task = static_cast<std::unique_ptr<Task>*>(PyCapsule_GetPointer(capsule, kTaskName));
  const std::unique_ptr<std::unique_ptr<Task>> held(task);
  if (task == nullptr || *task == nullptr) return;
  PyObject* type = nullptr;
  PyObject* value = nullptr;
  PyObject* trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  const Ref done(GuardedCall<RunDropped, PyObject*>(task->get()));
  if (!done) TakeLooseError(nullptr);
  PyErr_Restore(type, value, trace);
}

PyMethodDef run_method = {"refresh", Method<RunCapsule>(), METH_NOARGS, nullptr};

void HandToExecutor(const State& state, Task task) {
  const WithGil gil;
  const Ref executor = Ref::Borrowed(state.callbacks.executor);
  auto* const held = new std::unique_ptr<Task>(new Task(std::move(task)));
  const Ref capsule(PyCapsule_New(held, kTaskName, DestroyCapsule));
  if (!capsule) {
    TakeLooseError(nullptr);
    RunTask(**held);
    delete held;
    return;
  }
  const Ref callable(PyCFunction_NewEx(&run_method, capsule.get(), nullptr));
  const Ref submit(executor ? PyObject_GetAttrString(executor.get(), "submit") : nullptr);
  const Ref said(callable && submit
                     ? PyObject_CallFunctionObjArgs(submit.get(), callable.get(), nullptr)
                     : nullptr);
  // Refused: the capsule goes with its last reference, and the refresh runs here.
  if (!said && PyErr_Occurred()) TakeLooseError(nullptr);
}

bool TakeCacheOptions(PyObject* rest, ListCacheOptions* options, Callbacks* callbacks) {
  Ref loader;
  Ref writer;
  Ref executor;
  uint64_t lists_per_load_max = options->lists_per_load_max;
  size_t policy = 0;
  if (!TakeCallable(rest, "loader", &loader) || !TakeCallable(rest, "writer", &writer) ||
      !TakeInteger(rest, "lists_per_load_max", &lists_per_load_max) ||
      !TakeSeconds(rest, "fresh_for_seconds", &options->fresh_for_seconds) ||
      !TakeSeconds(rest, "absent_for_seconds", &options->absent_for_seconds) ||
      !TakeSeconds(rest, "stale_for_seconds", &options->stale_for_seconds) ||
      !TakeSeconds(rest, "refresh_ahead_seconds", &options->refresh_ahead_seconds) ||
      !TakeWord(rest, "write_policy", {"through", "around"}, &policy)) {
    return false;
  }
  if (PyObject* const given = PyDict_GetItemString(rest, "executor")) {
    if (given != Py_None) executor = Ref::Borrowed(given);
    if (PyDict_DelItemString(rest, "executor") != 0) return false;
  }
  if (!loader && (writer || executor || options->fresh_for_seconds != 0)) {
    RaiseInvalid(
        "writer, executor and fresh_for_seconds are for a Cache with a loader; without one "
        "use put() and its fresh_until_seconds");
    return false;
  }
  options->lists_per_load_max = lists_per_load_max;
  options->write_policy = static_cast<CacheWritePolicy>(policy);
  callbacks->loader = loader.Release();
  callbacks->writer = writer.Release();
  callbacks->executor = executor.Release();
  return true;
}

void SetCallbacks(State& state, ListCacheOptions& options) {
  options.loader = [&state](ListLoad& load) { return CallLoader(state, load); };
  if (state.callbacks.writer != nullptr) {
    options.writer = [&state](const ListChange& change) { return CallWriter(state, change); };
  }
  if (state.callbacks.executor != nullptr) {
    options.executor = [&state](Task task) { HandToExecutor(state, std::move(task)); };
  }
}

absl::Status OpenCache(State& state, ListCacheOptions options, OpenArguments opened) {
  options.store = opened.options;
  absl::StatusOr<std::unique_ptr<ListStore>> store = OpenStore(std::move(opened));
  if (!store.ok()) return store.status();
  if (state.callbacks.loader == nullptr) {
    state.own_store = *std::move(store);
    state.store = state.own_store.get();
    return absl::OkStatus();
  }
  SetCallbacks(state, options);
  absl::StatusOr<std::unique_ptr<ListCache>> cache =
      ListCache::Open(std::move(options), *std::move(store));
  if (!cache.ok()) return cache.status();
  state.cache = *std::move(cache);
  state.store = &state.cache->store();
  return absl::OkStatus();
}

}  // namespace

int InitCache(PyObject* self, PyObject* arguments, PyObject* keywords) {
  State& state = *reinterpret_cast<StoreObject*>(self)->state;
  if (!BeginOpening(state, arguments, "Cache")) return -1;
  const Ref rest(keywords == nullptr ? PyDict_New() : PyDict_Copy(keywords));
  OpenArguments opened;
  ListCacheOptions options;
  if (!rest || !TakeOptions(rest.get(), &opened) ||
      !TakeCacheOptions(rest.get(), &options, &state.callbacks) ||
      !RefuseRest(rest.get(), "Cache")) {
    return -1;
  }
  opened.options.memory_policy = MemoryPolicy::kEvict;
  opened.options.lists_live_elsewhere = true;
  state.writes_to_disk = !opened.options.data_dir.empty();
  state.has_threads = state.writes_to_disk || opened.options.background_reclaim;
  state.callbacks.on_evicted = Ref::Borrowed(opened.on_evicted).Release();
  state.clock_object = Ref::Borrowed(opened.clock).Release();
  state.clock = opened.options.manual_clock;
  if (state.clock == nullptr) state.clock = &SystemClock::Instance();
  state.refresh_ahead_seconds = options.refresh_ahead_seconds;
  SetListeners(state, opened.options);
  const absl::Status status = OpenCache(state, std::move(options), std::move(opened));
  if (status.ok()) return 0;
  Raise(status);
  return -1;
}

PyObject* CacheStats(State& state) {
  if (state.cache == nullptr) {
    return Raise(absl::FailedPreconditionError("only a Cache with a loader has them: see stats()"));
  }
  const ListCacheStats all = state.cache->GetStats();
  Ref dict(PyDict_New());
  if (!dict) return nullptr;
  const std::pair<const char*, uint64_t> numbers[] = {{"loader_calls", all.loader_calls},
                                                      {"lists_loaded", all.lists_loaded},
                                                      {"lists_absent", all.lists_absent},
                                                      {"load_failures", all.load_failures},
                                                      {"load_nanos", all.load_nanos},
                                                      {"load_nanos_max", all.load_nanos_max},
                                                      {"reads_joined", all.reads_joined},
                                                      {"stale_served", all.stale_served},
                                                      {"refreshes", all.refreshes},
                                                      {"loads_overtaken", all.loads_overtaken},
                                                      {"loads_not_kept", all.loads_not_kept},
                                                      {"answers_ignored", all.answers_ignored},
                                                      {"writer_failures", all.writer_failures}};
  for (const auto& [name, value] : numbers) {
    if (!AddNumber(dict.get(), name, value)) return nullptr;
  }
  return dict.Release();
}

}  // namespace liststore::python
