// absl::Status -> exceptions of liststore_cache, and exceptions of callbacks -> absl::Status.
#ifndef LISTSTORE_TOOLS_PYTHON_CACHE_EXTENSION_ERRORS_H_
#define LISTSTORE_TOOLS_PYTHON_CACHE_EXTENSION_ERRORS_H_

#include "absl/status/status.h"
#include "tools/python_cache/extension/python.h"

namespace liststore::python {

// Finds the classes in liststore_cache._errors. False: a Python error is set.
bool LoadErrors();

// An exception object with the words of `status`, which is not OK. nullptr: a Python error is set.
PyObject* ToException(const absl::Status& status);

// Raises it. An exception that a callback of this call raised on this thread is its cause. Returns
// nullptr.
PyObject* Raise(const absl::Status& status);
PyObject* RaiseInvalid(const char* format, ...) __attribute__((format(printf, 1, 2)));

// The Python error that is set, as a status; kept as the cause of what this thread raises next.
absl::Status TakeCallbackError(const char* callback);
// The words of an exception object: "ValueError: no such user".
absl::Status ExceptionStatus(const char* callback, PyObject* exception);
// Forgets what TakeCallbackError has kept: nobody raised it.
void DropCallbackError();

}  // namespace liststore::python

#endif  // LISTSTORE_TOOLS_PYTHON_CACHE_EXTENSION_ERRORS_H_
