// Calls of Store with many lists.
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/python_cache/extension/arguments.h"
#include "tools/python_cache/extension/errors.h"
#include "tools/python_cache/extension/store.h"
#include "tools/python_cache/extension/store_calls.h"

namespace liststore::python {
namespace {

StoreObject* Self(PyObject* self) { return reinterpret_cast<StoreObject*>(self); }

struct ListArgument {
  Ref row;
  FeatureObject* feature = nullptr;
  std::string_view entity_id;
  ParsedItems items;
};

// From an iterable of (feature, entity_id, items).
bool ParseLists(PyObject* self, PyObject* iterable, std::vector<ListArgument>* lists) {
  const Ref rows(PySequence_Tuple(iterable));
  if (!rows) return false;
  const Py_ssize_t count = PyTuple_Size(rows.get());
  for (Py_ssize_t i = 0; i < count; ++i) {
    ListArgument& list = lists->emplace_back();
    list.row = Ref(PySequence_Tuple(PyTuple_GetItem(rows.get(), i)));
    if (!list.row) return false;
    PyObject* const feature =
        PyTuple_Size(list.row.get()) == 3 ? PyTuple_GetItem(list.row.get(), 0) : nullptr;
    if (feature == nullptr || !PyObject_TypeCheck(feature, feature_type)) {
      PyErr_Format(PyExc_TypeError, "list %zd is not a (Feature, entity_id, items)", i);
      return false;
    }
    list.feature = reinterpret_cast<FeatureObject*>(feature);
    if (list.feature->store != Self(self)) {
      PyErr_Format(PyExc_ValueError, "the feature of list %zd is of another store", i);
      return false;
    }
    if (!ToName(PyTuple_GetItem(list.row.get(), 1), "entity_id", &list.entity_id) ||
        !list.items.Parse(PyTuple_GetItem(list.row.get(), 2))) {
      return false;
    }
  }
  return true;
}

}  // namespace

PyObject* AddMulti(PyObject* self, PyObject* iterable) {
  std::vector<ListArgument> lists;
  if (!ParseLists(self, iterable, &lists)) return nullptr;
  const Call call(Self(self));
  if (!call) return nullptr;
  if (call.state().cache != nullptr) {
    return Raise(absl::FailedPreconditionError(
        "add_multi does not go through a loader's cache: use add_items for each list"));
  }
  std::vector<ListAddition> additions;
  for (const ListArgument& list : lists) {
    additions.push_back({{*list.feature->feature, list.entity_id}, list.items.items()});
  }
  AddResult result;
  const absl::Status status = LetOthersRun([&] {
    absl::StatusOr<AddResult> added = call.store().AddListItemsMulti(additions);
    if (added.ok()) result = *added;
    return added.status();
  });
  if (!status.ok()) return Raise(status);
  return Py_BuildValue("(nn)", static_cast<Py_ssize_t>(result.stored),
                       static_cast<Py_ssize_t>(result.skipped_expired));
}

PyObject* PutMulti(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  std::array<Argument, 2> wanted = {{{"lists"}, {"fresh_until_seconds"}}};
  int64_t fresh_until = 0;
  std::vector<ListArgument> lists;
  if (!Bind("put_multi", args, count, names, wanted, 1) ||
      (wanted[1].value != nullptr &&
       !ToSeconds(wanted[1].value, "fresh_until_seconds", &fresh_until)) ||
      !ParseLists(self, wanted[0].value, &lists)) {
    return nullptr;
  }
  const Call call(Self(self));
  if (!call) return nullptr;
  std::vector<ListPut> puts;
  for (const ListArgument& list : lists) {
    puts.push_back({{*list.feature->feature, list.entity_id},
                    list.items.items(),
                    {.fresh_until_seconds = fresh_until}});
  }
  std::vector<absl::StatusOr<bool>> results;
  {
    const WithoutGil gil;
    results = call.store().PutListsMulti(puts);
  }
  Ref answer(PyList_New(0));
  if (!answer) return nullptr;
  for (const absl::StatusOr<bool>& result : results) {
    const Ref one(result.ok() ? PyBool_FromLong(*result ? 1 : 0) : ToException(result.status()));
    if (!one || PyList_Append(answer.get(), one.get()) != 0) return nullptr;
  }
  return answer.Release();
}

}  // namespace liststore::python
