// The objects of a store: Store and Cache, features of it, and what a call of them holds.
#ifndef LISTSTORE_TOOLS_PYTHON_CACHE_EXTENSION_STORE_H_
#define LISTSTORE_TOOLS_PYTHON_CACHE_EXTENSION_STORE_H_

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>

#include "liststore/clock.h"
#include "liststore/list_cache.h"
#include "liststore/list_store.h"
#include "tools/python_cache/extension/python.h"

namespace liststore::python {

// Reads of more items, multi-gets of more lists and writes of more items let other threads of Python
// run meanwhile: below that, giving the lock up and taking it again is most of what a call takes.
inline constexpr size_t kItemsOfALongCall = 1'000;
inline constexpr size_t kListsOfALongCall = 64;

// Python objects that the store calls, nullptr where there is none.
struct Callbacks {
  PyObject* on_evicted = nullptr;
  PyObject* loader = nullptr;
  PyObject* writer = nullptr;
  PyObject* executor = nullptr;
};

// What is behind a Store or Cache. Python's lock guards all members but the notices.
//
// close() ends calls at once; the store itself goes with the last call that is under way and the last
// view, since both point into it. It is opened once: what points into it may outlive close().
struct State {
  pid_t process = 0;  // that opened it; 0: nobody tried
  std::unique_ptr<ListStore> own_store;
  std::unique_ptr<ListCache> cache;  // with a loader; has a store of its own
  ListStore* store = nullptr;        // of either; nullptr: closed
  const Clock* clock = nullptr;
  int64_t refresh_ahead_seconds = 0;
  bool writes_to_disk = false;
  bool has_threads = false;  // of its own, which may hold a lane at the instant of a fork
  size_t calls = 0;
  size_t views = 0;
  // Reads that looked whether a list is here before the cache was asked, by presence: no reads of
  // their own, so they are taken out of the counts again.
  std::array<uint64_t, 3> probes = {};
  Callbacks callbacks;
  PyObject* clock_object = nullptr;

  // Lines of Options::on_keeping, the newest of them. They come while parts of the store are locked,
  // where Python's lock must not be waited for.
  std::mutex notices_mutex;
  std::deque<std::string> notices;
};

struct StoreObject {
  PyObject_HEAD State* state;
};

struct ClockObject {
  PyObject_HEAD ManualClock* clock;
};

struct FeatureObject {
  PyObject_HEAD StoreObject* store;
  ListFeature* feature;
  PyObject* names;  // (entity_type, feature, version)
};

// The types, made once by the module.
extern PyTypeObject* store_type;
extern PyTypeObject* cache_type;
extern PyTypeObject* clock_type;
extern PyTypeObject* feature_type;
bool AddStoreTypes(PyObject* module);
bool AddClockType(PyObject* module);
bool AddFeatureType(PyObject* module);
PyTypeObject* AddType(PyObject* module, PyType_Spec* spec, const char* name, PyTypeObject* base);
// tp_new of types whose objects are made by calls of a store.
PyObject* RefuseNew(PyTypeObject* type, PyObject* arguments, PyObject* keywords);

// Destroys the store if it is closed and nothing points into it. A process that was forked leaves it as
// it is: the threads of it are not here, and its files are those of the process that opened it.
void DestroyIfUnused(State& state);

// Takes the state for the process, once, and says no to arguments by position. False: a Python error
// is set.
bool BeginOpening(State& state, PyObject* arguments, const char* type);

// One call of a store. `store()` is nullptr, and a Python error set, when it is closed.
class Call {
 public:
  explicit Call(StoreObject* object);
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  explicit operator bool() const { return store_ != nullptr; }
  ListStore& store() const { return *store_; }
  State& state() const { return *object_->state; }

 private:
  StoreObject* object_;
  ListStore* store_;
};

// Options of Store and Cache, from keyword arguments.
struct OpenArguments {
  Options options;
  std::string load_from;
  PyObject* clock = nullptr;       // borrowed
  PyObject* on_evicted = nullptr;  // borrowed
};
// Takes what it knows out of `keywords`, a dict of the caller's own. False: a Python error is set.
bool TakeOptions(PyObject* keywords, OpenArguments* opened);
bool TakeInteger(PyObject* keywords, const char* name, uint64_t* value);
bool TakeSeconds(PyObject* keywords, const char* name, int64_t* value);
// Borrowed by `held`; nullptr: not given, or None.
bool TakeCallable(PyObject* keywords, const char* name, Ref* held);
// One of `words`, by its place.
bool TakeWord(PyObject* keywords, const char* name, std::initializer_list<const char*> words,
              size_t* place);
// An error for what is left.
bool RefuseRest(PyObject* keywords, const char* type);

// Fills in what the options call: listeners of `state`.
void SetListeners(State& state, Options& options);
absl::StatusOr<std::unique_ptr<ListStore>> OpenStore(OpenArguments opened);

int InitCache(PyObject* self, PyObject* arguments, PyObject* keywords);
PyObject* CacheStats(State& state);
bool AddNumber(PyObject* dict, const char* name, uint64_t value);

}  // namespace liststore::python

#endif  // LISTSTORE_TOOLS_PYTHON_CACHE_EXTENSION_STORE_H_
