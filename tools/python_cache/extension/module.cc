// The module liststore_cache._native.
#include "liststore/version.h"
#include "tools/python_cache/extension/errors.h"
#include "tools/python_cache/extension/results.h"
#include "tools/python_cache/extension/store.h"

namespace {

PyModuleDef native_module = {PyModuleDef_HEAD_INIT,
                             "liststore_cache._native",
                             "The store of liststore, in this process.",
                             -1,
                             nullptr,
                             nullptr,
                             nullptr,
                             nullptr,
                             nullptr};

}  // namespace

PyMODINIT_FUNC PyInit__native() {
  using namespace liststore::python;  // NOLINT(google-build-using-namespace): one function of C
  Ref module(PyModule_Create(&native_module));
  if (!module || !LoadErrors() || !AddClockType(module.get()) || !AddFeatureType(module.get()) ||
      !AddStoreTypes(module.get()) || !AddResultTypes(module.get()) ||
      PyModule_AddStringConstant(module.get(), "__version__", liststore::kVersion) != 0) {
    return nullptr;
  }
  return module.Release();
}
