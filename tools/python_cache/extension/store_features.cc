// Features of Store.
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

// (entity_type, feature[, version][, ttl_seconds]): what changes features takes.
struct FeatureArguments {
  std::string_view entity_type;
  std::string_view feature;
  std::string_view version;
  int64_t ttl_seconds = 0;
  bool has_ttl = false;
};

enum class Version : uint8_t {
  kNone,
  kNeeded
};
enum class Ttl : uint8_t {
  kNone,
  kNeeded,
  kOptional
};

bool ParseFeature(const char* function, PyObject* const* args, Py_ssize_t count, PyObject* names,
                  Version version, Ttl ttl, FeatureArguments* out) {
  std::array<Argument, 4> wanted = {{{"entity_type"}, {"feature"}, {"version"}, {"ttl_seconds"}}};
  const size_t shift = version == Version::kNone ? 1 : 0;
  if (shift == 1) wanted[2] = wanted[3];
  const size_t taken = 4 - shift - (ttl == Ttl::kNone ? 1 : 0);
  const size_t required = taken - (ttl == Ttl::kOptional ? 1 : 0);
  if (!BindArguments(function, args, count, names, wanted.data(), taken, required, taken) ||
      !ToName(wanted[0].value, "entity_type", &out->entity_type) ||
      !ToName(wanted[1].value, "feature", &out->feature)) {
    return false;
  }
  if (version == Version::kNeeded && !ToName(wanted[2].value, "version", &out->version)) {
    return false;
  }
  PyObject* const seconds = ttl == Ttl::kNone ? nullptr : wanted[taken - 1].value;
  out->has_ttl = seconds != nullptr && seconds != Py_None;
  return !out->has_ttl || ToSeconds(seconds, "ttl_seconds", &out->ttl_seconds);
}

PyObject* MakeFeature(StoreObject* store, std::string_view entity_type, std::string_view feature,
                      std::string_view version) {
  const Call call(store);
  if (!call) return nullptr;
  absl::StatusOr<ListFeature> found = call.store().FindListFeature(entity_type, feature, version);
  if (!found.ok()) return Raise(found.status());
  const Ref type(ToText(entity_type));
  const Ref name(ToText(feature));
  const Ref version_text(ToText(version));
  if (!type || !name || !version_text) return nullptr;
  Ref names(PyTuple_Pack(3, type.get(), name.get(), version_text.get()));
  if (!names) return nullptr;
  PyObject* const object = PyType_GenericAlloc(feature_type, 0);
  if (object == nullptr) return nullptr;
  auto* const made = reinterpret_cast<FeatureObject*>(object);
  made->feature = new (std::nothrow) ListFeature(*found);
  Py_INCREF(reinterpret_cast<PyObject*>(store));
  made->store = store;
  made->names = names.Release();
  if (made->feature != nullptr) return object;
  Py_DECREF(object);
  return PyErr_NoMemory();
}

template <Version kVersion, Ttl kTtl, typename Change>
PyObject* ChangeFeature(const char* name, PyObject* self, PyObject* const* args, Py_ssize_t count,
                        PyObject* names, bool makes_one, const Change& change) {
  FeatureArguments given;
  if (!ParseFeature(name, args, count, names, kVersion, kTtl, &given)) return nullptr;
  {
    const Call call(Self(self));
    if (!call) return nullptr;
    const absl::Status status = LetOthersRun([&] { return change(call.store(), given); });
    if (!status.ok()) return Raise(status);
  }
  if (!makes_one) return None();
  return MakeFeature(Self(self), given.entity_type, given.feature, given.version);
}

}  // namespace

PyObject* CreateFeature(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return ChangeFeature<Version::kNone, Ttl::kNeeded>(
      "create_feature", self, args, count, names, true,
      [](ListStore& store, const FeatureArguments& given) {
        return store.CreateListFeature(given.entity_type, given.feature, given.ttl_seconds);
      });
}

PyObject* CreateVersion(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return ChangeFeature<Version::kNeeded, Ttl::kOptional>(
      "create_feature_version", self, args, count, names, true,
      [](ListStore& store, const FeatureArguments& given) {
        return store.CreateListFeatureVersion(
            given.entity_type, given.feature, given.version,
            given.has_ttl ? std::optional(given.ttl_seconds) : std::nullopt);
      });
}

PyObject* SetTtl(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return ChangeFeature<Version::kNone, Ttl::kNeeded>(
      "set_feature_ttl", self, args, count, names, false,
      [](ListStore& store, const FeatureArguments& given) {
        return store.SetListFeatureTtl(given.entity_type, given.feature, given.ttl_seconds);
      });
}

PyObject* SetVersionTtl(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return ChangeFeature<Version::kNeeded, Ttl::kNeeded>(
      "set_feature_version_ttl", self, args, count, names, false,
      [](ListStore& store, const FeatureArguments& given) {
        return store.SetListFeatureVersionTtl(given.entity_type, given.feature, given.version,
                                              given.ttl_seconds);
      });
}

PyObject* DeleteFeature(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return ChangeFeature<Version::kNone, Ttl::kNone>(
      "delete_feature", self, args, count, names, false,
      [](ListStore& store, const FeatureArguments& given) {
        return store.DeleteListFeature(given.entity_type, given.feature);
      });
}

PyObject* DeleteVersion(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return ChangeFeature<Version::kNeeded, Ttl::kNone>(
      "delete_feature_version", self, args, count, names, false,
      [](ListStore& store, const FeatureArguments& given) {
        return store.DeleteListFeatureVersion(given.entity_type, given.feature, given.version);
      });
}

PyObject* FindFeature(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  std::array<Argument, 3> wanted = {{{"entity_type"}, {"feature"}, {"version"}}};
  std::string_view entity_type;
  std::string_view feature;
  std::string_view version;
  if (!Bind("feature", args, count, names, wanted, 2) ||
      !ToName(wanted[0].value, "entity_type", &entity_type) ||
      !ToName(wanted[1].value, "feature", &feature) ||
      (wanted[2].value != nullptr && !ToName(wanted[2].value, "version", &version))) {
    return nullptr;
  }
  return MakeFeature(Self(self), entity_type, feature, version);
}

PyObject* Features(PyObject* self, PyObject*) {
  const Call call(Self(self));
  if (!call) return nullptr;
  Ref list(PyList_New(0));
  if (!list) return nullptr;
  for (const ListFeatureInfo& feature : call.store().ListFeatures()) {
    for (const ListFeatureVersionInfo& version : feature.versions) {
      const Ref row(
          Py_BuildValue("(s#s#s#L)", feature.entity_type.data(),
                        static_cast<Py_ssize_t>(feature.entity_type.size()), feature.feature.data(),
                        static_cast<Py_ssize_t>(feature.feature.size()), version.version.data(),
                        static_cast<Py_ssize_t>(version.version.size()),
                        static_cast<long long>(version.ttl_seconds)));
      if (!row || PyList_Append(list.get(), row.get()) != 0) return nullptr;
    }
  }
  return list.Release();
}

}  // namespace liststore::python
