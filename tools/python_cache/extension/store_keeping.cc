// What a Store keeps, and its housekeeping.
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "liststore/metrics_text.h"
#include "liststore/saved_store.h"
#include "tools/python_cache/extension/arguments.h"
#include "tools/python_cache/extension/errors.h"
#include "tools/python_cache/extension/store.h"
#include "tools/python_cache/extension/store_calls.h"

namespace liststore::python {
namespace {

StoreObject* Self(PyObject* self) { return reinterpret_cast<StoreObject*>(self); }

PyObject* Nothing(const absl::Status& status) { return status.ok() ? None() : Raise(status); }

bool AddReads(PyObject* dict, const State& state, const Stats& all) {
  const auto without_probes = [&](uint64_t reads, ListPresence presence) {
    const uint64_t probes = state.probes[static_cast<size_t>(presence)];
    return reads > probes ? reads - probes : 0;
  };
  return AddNumber(dict, "hits", without_probes(all.cache.hits, ListPresence::kComplete)) &&
         AddNumber(dict, "partial_hits",
                   without_probes(all.cache.partial_hits, ListPresence::kPartial)) &&
         AddNumber(dict, "misses", without_probes(all.cache.misses, ListPresence::kAbsent));
}

}  // namespace

PyObject* Save(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  std::array<Argument, 2> wanted = {{{"path"}, {"sync"}}};
  if (!Bind("save", args, count, names, wanted, 1)) return nullptr;
  PyObject* path = nullptr;
  if (PyUnicode_FSConverter(wanted[0].value, &path) == 0) return nullptr;
  const Ref held(path);
  const int sync = wanted[1].value == nullptr ? 1 : PyObject_IsTrue(wanted[1].value);
  if (sync < 0) return nullptr;
  const Call call(Self(self));
  if (!call) return nullptr;
  const std::string place = PyBytes_AsString(path);
  return Nothing(LetOthersRun(
      [&] { return SaveListStore(call.store(), place, {.sync = sync == 1}).status(); }));
}

PyObject* Snapshot(PyObject* self, PyObject*) {
  const Call call(Self(self));
  if (!call) return nullptr;
  SnapshotInfo info;
  const absl::Status status = LetOthersRun([&] {
    absl::StatusOr<SnapshotInfo> taken = call.store().Snapshot();
    if (taken.ok()) info = *taken;
    return taken.status();
  });
  if (!status.ok()) return Raise(status);
  return Py_BuildValue("{sKsKsKsKsd}", "number", static_cast<unsigned long long>(info.number),
                       "partitions", static_cast<unsigned long long>(info.partitions), "rows",
                       static_cast<unsigned long long>(info.rows), "bytes",
                       static_cast<unsigned long long>(info.bytes), "seconds", info.seconds);
}

PyObject* Sync(PyObject* self, PyObject*) {
  const Call call(Self(self));
  if (!call) return nullptr;
  return Nothing(LetOthersRun([&] { return call.store().Sync(); }));
}

PyObject* MoveClock(PyObject* self, PyObject* now) {
  uint64_t nanos = 0;
  if (!ToNanos(now, "now_nanos", &nanos)) return nullptr;
  const Call call(Self(self));
  if (!call) return nullptr;
  return Nothing(LetOthersRun([&] { return call.store().MoveClock(nanos); }));
}

PyObject* GetStats(PyObject* self, PyObject*) {
  const Call call(Self(self));
  if (!call) return nullptr;
  const Stats all = call.store().GetStats();
  Ref dict(PyDict_New());
  if (!dict) return nullptr;
  const std::pair<const char*, uint64_t> numbers[] = {
      {"lists", all.tables.empty() ? 0 : all.tables[0].partitions},
      {"items", all.tables.empty() ? 0 : all.tables[0].rows},
      {"expired_items", all.expired_items},
      {"live_bytes", all.live_bytes},
      {"held_bytes", all.held_bytes},
      {"memory_limit_bytes", all.memory_limit_bytes},
      {"refused_writes", all.refused_writes},
      {"shards", all.shards},
      {"log_bytes", all.log_bytes},
      {"additions", all.cache.additions},
      {"puts", all.cache.puts},
      {"evictions", all.cache.evictions},
      {"evicted_items", all.cache.evicted_items},
      {"evicted_bytes", all.evicted_bytes},
      {"forgotten", all.cache.forgotten},
      {"views", call.state().views}};
  for (const auto& [name, value] : numbers) {
    if (!AddNumber(dict.get(), name, value)) return nullptr;
  }
  if (!AddReads(dict.get(), call.state(), all)) return nullptr;
  return dict.Release();
}

PyObject* CacheStatsOf(PyObject* self, PyObject*) {
  const Call call(Self(self));
  return call ? CacheStats(call.state()) : nullptr;
}

PyObject* Metrics(PyObject* self, PyObject*) {
  const Call call(Self(self));
  if (!call) return nullptr;
  return ToText(call.state().cache != nullptr ? MetricsText(*call.state().cache)
                                              : MetricsText(call.store()));
}

PyObject* Reclaim(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  std::array<Argument, 1> wanted = {{{"budget"}}};
  size_t budget = 1'000;
  if (!Bind("reclaim", args, count, names, wanted, 0) ||
      (wanted[0].value != nullptr && !ToSize(wanted[0].value, "budget", &budget))) {
    return nullptr;
  }
  const Call call(Self(self));
  if (!call) return nullptr;
  size_t done = 0;
  {
    const WithoutGil gil;
    done = call.store().Reclaim(budget);
  }
  return PyLong_FromSize_t(done);
}

PyObject* SetMemoryLimit(PyObject* self, PyObject* limit) {
  size_t bytes = 0;
  if (!ToSize(limit, "memory_limit_bytes", &bytes)) return nullptr;
  const Call call(Self(self));
  if (!call) return nullptr;
  return Nothing(LetOthersRun([&] { return call.store().SetMemoryLimit(bytes); }));
}

PyObject* NextExpiry(PyObject* self, PyObject*) {
  const Call call(Self(self));
  if (!call) return nullptr;
  const std::optional<int64_t> seconds = call.store().NextExpirySeconds();
  return seconds ? PyLong_FromLongLong(*seconds) : None();
}

PyObject* Notices(PyObject* self, PyObject*) {
  std::deque<std::string> taken;
  {
    const std::lock_guard lock(Self(self)->state->notices_mutex);
    taken.swap(Self(self)->state->notices);
  }
  Ref list(PyList_New(0));
  for (const std::string& line : taken) {
    const Ref text(ToText(line));
    if (!list || !text || PyList_Append(list.get(), text.get()) != 0) return nullptr;
  }
  return list.Release();
}

}  // namespace liststore::python
