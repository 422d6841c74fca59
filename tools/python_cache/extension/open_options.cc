// Keyword arguments of Store and Cache.
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "liststore/saved_store.h"
#include "tools/python_cache/extension/errors.h"
#include "tools/python_cache/extension/store.h"

namespace liststore::python {
namespace {

constexpr size_t kNoticesMax = 1'000;

// What `keywords` has of that name, taken out of it. None counts as not given.
bool Take(PyObject* keywords, const char* name, Ref* value) {
  PyObject* const found = PyDict_GetItemString(keywords, name);
  if (found == nullptr) return true;
  if (found != Py_None) *value = Ref::Borrowed(found);
  return PyDict_DelItemString(keywords, name) == 0;
}

bool TakePath(PyObject* keywords, const char* name, std::string* path) {
  Ref value;
  if (!Take(keywords, name, &value)) return false;
  if (!value) return true;
  PyObject* bytes = nullptr;
  if (PyUnicode_FSConverter(value.get(), &bytes) == 0) return false;
  const Ref held(bytes);
  *path = PyBytes_AsString(bytes);
  return true;
}

bool TakeText(PyObject* keywords, const char* name, std::string* text) {
  Ref value;
  if (!Take(keywords, name, &value)) return false;
  if (!value) return true;
  Py_ssize_t size = 0;
  const char* const data = PyUnicode_AsUTF8AndSize(value.get(), &size);
  if (data == nullptr) return false;
  text->assign(data, static_cast<size_t>(size));
  return true;
}

bool TakeFlag(PyObject* keywords, const char* name, bool* flag) {
  Ref value;
  if (!Take(keywords, name, &value)) return false;
  if (!value) return true;
  const int is_true = PyObject_IsTrue(value.get());
  *flag = is_true == 1;
  return is_true >= 0;
}

bool TakeKeeping(PyObject* keywords, Options* options) {
  size_t mode = static_cast<size_t>(options->commit_log);
  size_t compression = 0;
  uint64_t period = options->commit_log_period_ms;
  if (!TakePath(keywords, "data_dir", &options->data_dir) ||
      !TakeWord(keywords, "commit_log", {"off", "os", "periodic", "sync"}, &mode) ||
      !TakeInteger(keywords, "commit_log_period_ms", &period) ||
      !TakeInteger(keywords, "commit_log_segment_bytes", &options->commit_log_segment_bytes) ||
      !TakeWord(keywords, "snapshot_compression", {"none", "zstd"}, &compression)) {
    return false;
  }
  if (period > 60'000) {
    RaiseInvalid("commit_log_period_ms %llu is not in 1 to 60,000",
                 static_cast<unsigned long long>(period));
    return false;
  }
  options->commit_log = static_cast<CommitLog>(mode);
  options->snapshot_compression = static_cast<SnapshotCompression>(compression);
  options->commit_log_period_ms = static_cast<uint32_t>(period);
  return true;
}

}  // namespace

bool TakeInteger(PyObject* keywords, const char* name, uint64_t* value) {
  Ref given;
  if (!Take(keywords, name, &given)) return false;
  if (!given) return true;
  *value = PyLong_AsUnsignedLongLong(given.get());
  if (!PyErr_Occurred()) return true;
  if (PyErr_ExceptionMatches(PyExc_OverflowError)) {
    PyErr_Clear();
    RaiseInvalid("%s is not in 0 to 2**64 - 1", name);
  }
  return false;
}

bool TakeSeconds(PyObject* keywords, const char* name, int64_t* value) {
  Ref given;
  if (!Take(keywords, name, &given)) return false;
  if (!given) return true;
  *value = PyLong_AsLongLong(given.get());
  return !PyErr_Occurred();
}

bool TakeCallable(PyObject* keywords, const char* name, Ref* held) {
  if (!Take(keywords, name, held)) return false;
  if (!*held || PyCallable_Check(held->get())) return true;
  PyErr_Format(PyExc_TypeError, "%s must be callable", name);
  return false;
}

bool TakeWord(PyObject* keywords, const char* name, std::initializer_list<const char*> words,
              size_t* place) {
  std::string given;
  if (!TakeText(keywords, name, &given)) return false;
  if (given.empty()) return true;
  std::string known;
  size_t at = 0;
  for (const char* word : words) {
    if (given == word) {
      *place = at;
      return true;
    }
    absl::StrAppend(&known, at++ == 0 ? "" : ", ", word);
  }
  RaiseInvalid("%s '%.60s' is none of %s", name, given.c_str(), known.c_str());
  return false;
}

bool RefuseRest(PyObject* keywords, const char* type) {
  PyObject* key = nullptr;
  Py_ssize_t position = 0;
  if (!PyDict_Next(keywords, &position, &key, nullptr)) return true;
  PyErr_Format(PyExc_TypeError, "%s() has no argument '%U'", type, key);
  return false;
}

bool TakeOptions(PyObject* keywords, OpenArguments* opened) {
  Options& options = opened->options;
  Ref clock;
  Ref on_evicted;
  uint64_t value_bytes_max = options.value_bytes_max;
  uint64_t shards = 0;
  int64_t default_ttl_seconds = 0;
  if (!TakeText(keywords, "keyspace", &options.keyspace) ||
      !TakeSeconds(keywords, "default_ttl_seconds", &default_ttl_seconds) ||
      !TakeInteger(keywords, "value_bytes_max", &value_bytes_max) ||
      !TakeInteger(keywords, "memory_limit_bytes", &options.memory_limit_bytes) ||
      !TakeInteger(keywords, "shards", &shards) ||
      !TakeFlag(keywords, "background_reclaim", &options.background_reclaim) ||
      !TakeFlag(keywords, "feature_stats", &options.feature_stats) ||
      !TakeCallable(keywords, "on_evicted", &on_evicted) || !Take(keywords, "clock", &clock) ||
      !TakePath(keywords, "load_from", &opened->load_from) || !TakeKeeping(keywords, &options)) {
    return false;
  }
  if (shards > 256) {
    RaiseInvalid("shards %llu is not in 0 to 256", static_cast<unsigned long long>(shards));
    return false;
  }
  options.shards = static_cast<uint32_t>(shards);
  options.value_bytes_max = value_bytes_max;
  if (default_ttl_seconds != 0) options.default_ttl_seconds = default_ttl_seconds;
  if (clock) {
    if (!PyObject_TypeCheck(clock.get(), clock_type)) {
      PyErr_SetString(PyExc_TypeError, "clock must be a liststore_cache.ManualClock");
      return false;
    }
    options.manual_clock = reinterpret_cast<ClockObject*>(clock.get())->clock;
  }
  // Held by the caller's arguments from here on.
  opened->clock = clock.get();
  opened->on_evicted = on_evicted.get();
  return true;
}

void SetListeners(State& state, Options& options) {
  if (state.callbacks.on_evicted != nullptr) {
    options.eviction_listener = [&state](const EvictedList& list) {
      const WithGil gil;
      const Ref listener = Ref::Borrowed(state.callbacks.on_evicted);
      if (!listener) return;
      const Ref type(ToText(list.entity_type));
      const Ref feature(ToText(list.feature));
      const Ref version(ToText(list.version));
      const Ref entity(ToText(list.entity_id));
      const Ref items(PyLong_FromSize_t(list.items));
      const Ref reason(ToText(list.reason == EvictionReason::kMemory ? "memory" : "forgotten"));
      if (type && feature && version && entity && items && reason) {
        const Ref name(PyTuple_Pack(4, type.get(), feature.get(), version.get(), entity.get()));
        const Ref answer(name ? PyObject_CallFunctionObjArgs(listener.get(), name.get(),
                                                             items.get(), reason.get(), nullptr)
                              : nullptr);
      }
      if (PyErr_Occurred()) TakeLooseError(listener.get());
    };
  }
  options.on_keeping = [&state](std::string_view line) {
    const std::lock_guard lock(state.notices_mutex);
    if (state.notices.size() >= kNoticesMax) state.notices.pop_front();
    state.notices.emplace_back(line);
  };
}

absl::StatusOr<std::unique_ptr<ListStore>> OpenStore(OpenArguments opened) {
  const WithoutGil gil;
  if (!opened.load_from.empty()) return LoadListStore(opened.load_from, std::move(opened.options));
  return ListStore::Open(std::move(opened.options));
}

}  // namespace liststore::python
