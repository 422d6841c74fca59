// Reads of Feature.
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "liststore/list_view.h"
#include "tools/python_cache/extension/arguments.h"
#include "tools/python_cache/extension/errors.h"
#include "tools/python_cache/extension/feature_calls.h"
#include "tools/python_cache/extension/results.h"
#include "tools/python_cache/extension/store.h"

namespace liststore::python {
namespace {

// Lists that are read before they become columns: their rows are still in the processor's cache then.
constexpr size_t kListsPerPass = 64;

FeatureObject* Self(PyObject* self) { return reinterpret_cast<FeatureObject*>(self); }

// Whether the copy of a cache answers by itself: it is all there, fresh, and not to be refreshed yet.
bool AnswersByItself(const State& state, const ListItems& items) {
  if (items.presence() != ListPresence::kComplete) return false;
  const int64_t fresh_until = items.fresh_until_seconds();
  if (fresh_until == 0) return true;
  const auto now = static_cast<int64_t>(state.clock->CoarseNanos() / 1'000'000'000);
  return fresh_until - now > state.refresh_ahead_seconds;
}

absl::Status Read(const Call& call, const ListRef& list, const GetOptions& options,
                  ListItems* items) {
  State& state = call.state();
  if (state.cache == nullptr) {
    const WithoutGil gil(options.limit > kItemsOfALongCall);
    return call.store().GetListItems(list, options, items);
  }
  // What is here needs no loader, nor to let other threads run.
  absl::Status status = call.store().GetListItems(list, options, items);
  if (!status.ok() || AnswersByItself(state, *items)) return status;
  ++state.probes[static_cast<size_t>(items->presence())];
  ListCache& cache = *state.cache;
  const WithoutGil gil;
  return cache.GetListItems(list, options, items);
}

struct ReadArguments {
  std::string_view entity_id;
  GetOptions options;
};

bool ParseRead(const char* function, PyObject* const* args, Py_ssize_t count, PyObject* names,
               ReadArguments* read) {
  std::array<Argument, 1 + kReadArguments> wanted = {
      {{"entity_id"}, {"limit"}, {"since_nanos"}, {"before_nanos"}, {"with_expiry"}}};
  return Bind(function, args, count, names, wanted, 1) &&
         ToName(wanted[0].value, "entity_id", &read->entity_id) &&
         ToGetOptions(&wanted[1], &read->options);
}

absl::Status ReadMany(const Call& call, const ListFeature& feature,
                      const std::vector<std::string_view>& ids, const GetOptions& options,
                      Columns* columns) {
  const std::span<const std::string_view> all(ids);
  std::vector<ListItems> lists;
  columns->offsets.reserve(ids.size() + 1);
  ListCache* const cache = call.state().cache.get();
  ListStore& store = call.store();
  const WithoutGil gil(cache != nullptr || ids.size() > kListsOfALongCall ||
                       options.limit > kItemsOfALongCall);
  // A cache gets them all at once, so that the loader does.
  const size_t pass = cache != nullptr ? std::max<size_t>(ids.size(), 1) : kListsPerPass;
  for (size_t first = 0; first < ids.size(); first += pass) {
    const ListRefs refs(feature, all.subspan(first, std::min(pass, ids.size() - first)));
    const absl::Status status = cache != nullptr ? cache->MultiGetListItems(refs, options, &lists)
                                                 : store.MultiGetListItems(refs, options, &lists);
    if (!status.ok()) return status;
    for (const ListItems& list : lists) columns->Append(list);
  }
  return absl::OkStatus();
}

}  // namespace

PyObject* Newest(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  ReadArguments read;
  if (!ParseRead("newest", args, count, names, &read)) return nullptr;
  const Call call(Self(self)->store);
  if (!call) return nullptr;
  Scratch scratch;
  const absl::Status status =
      Read(call, {*Self(self)->feature, read.entity_id}, read.options, &scratch.items());
  return status.ok() ? ToPairs(scratch.items()) : Raise(status);
}

PyObject* ReadItems(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  ReadArguments read;
  if (!ParseRead("items", args, count, names, &read)) return nullptr;
  const Call call(Self(self)->store);
  if (!call) return nullptr;
  Scratch scratch;
  const absl::Status status =
      Read(call, {*Self(self)->feature, read.entity_id}, read.options, &scratch.items());
  if (!status.ok()) return Raise(status);
  return NewItems(scratch.owned(), read.options.with_expiry);
}

PyObject* ReadView(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  ReadArguments read;
  if (!ParseRead("view", args, count, names, &read)) return nullptr;
  const Call call(Self(self)->store);
  if (!call) return nullptr;
  auto view = std::make_unique<ListView>();
  absl::Status status;
  {
    const WithoutGil gil(read.options.limit > kItemsOfALongCall);
    status = call.store().ViewListItems({*Self(self)->feature, read.entity_id}, read.options,
                                        view.get());
  }
  if (!status.ok()) return Raise(status);
  return NewView(Self(self)->store, std::move(view), read.options.with_expiry);
}

PyObject* MultiGet(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  std::array<Argument, 1 + kReadArguments> wanted = {
      {{"entity_ids"}, {"limit"}, {"since_nanos"}, {"before_nanos"}, {"with_expiry"}}};
  GetOptions options;
  if (!Bind("multi_get", args, count, names, wanted, 1) || !ToGetOptions(&wanted[1], &options)) {
    return nullptr;
  }
  if (PyUnicode_Check(wanted[0].value) || PyBytes_Check(wanted[0].value)) {
    PyErr_SetString(PyExc_TypeError, "entity_ids must be many: a list, tuple or array of str");
    return nullptr;
  }
  // A tuple of our own: others may change the list meanwhile.
  const Ref held(PySequence_Tuple(wanted[0].value));
  if (!held) return nullptr;
  std::vector<std::string_view> ids(static_cast<size_t>(PyTuple_Size(held.get())));
  for (size_t i = 0; i < ids.size(); ++i) {
    PyObject* const id = PyTuple_GetItem(held.get(), static_cast<Py_ssize_t>(i));
    if (!ToName(id, "entity_id", &ids[i])) return nullptr;
  }
  const Call call(Self(self)->store);
  if (!call) return nullptr;
  auto columns = std::make_unique<Columns>();
  columns->with_expiry = options.with_expiry;
  const absl::Status status = ReadMany(call, *Self(self)->feature, ids, options, columns.get());
  return status.ok() ? NewMultiItems(std::move(columns)) : Raise(status);
}

PyObject* Count(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  std::array<Argument, 3> wanted = {{{"entity_id"}, {"since_nanos"}, {"before_nanos"}}};
  std::string_view entity_id;
  GetOptions options;
  if (!Bind("count", args, count, names, wanted, 1) ||
      !ToName(wanted[0].value, "entity_id", &entity_id)) {
    return nullptr;
  }
  const Argument bounds[kReadArguments] = {{"limit"}, wanted[1], wanted[2], {"with_expiry"}};
  if (!ToGetOptions(bounds, &options)) return nullptr;
  const Call call(Self(self)->store);
  if (!call) return nullptr;
  const absl::StatusOr<size_t> counted =
      call.store().CountListItems({*Self(self)->feature, entity_id}, options);
  return counted.ok() ? PyLong_FromSize_t(*counted) : Raise(counted.status());
}

PyObject* ForEachList(PyObject* self, PyObject*) {
  const Call call(Self(self)->store);
  if (!call) return nullptr;
  std::string_view names[3];
  for (Py_ssize_t i = 0; i < 3; ++i) {
    if (!ToName(PyTuple_GetItem(Self(self)->names, i), "name", &names[i])) return nullptr;
  }
  std::vector<std::string> ids;
  absl::Status status;
  {
    const WithoutGil gil;
    status = call.store().ForEachList(names[0], names[1], names[2], [&](std::string_view id) {
      ids.emplace_back(id);
      return true;
    });
  }
  if (!status.ok()) return Raise(status);
  Ref list(PyList_New(static_cast<Py_ssize_t>(ids.size())));
  if (!list) return nullptr;
  for (size_t i = 0; i < ids.size(); ++i) {
    PyObject* const id = ToText(ids[i]);
    if (id == nullptr) return nullptr;
    PyList_SetItem(list.get(), static_cast<Py_ssize_t>(i), id);
  }
  return list.Release();
}

}  // namespace liststore::python
