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

// Raises it. The exception of a callback of this call whose words it has is its cause. Returns nullptr.
PyObject* Raise(const absl::Status& status);
PyObject* RaiseInvalid(const char* format, ...) __attribute__((format(printf, 1, 2)));

// What callbacks of one call of this module have raised on the call's thread; for the length of the
// call. Calls nest, since a callback may call the store: the inner one does not see what the outer one
// has, nor does it leave anything behind. Python's lock is held at both ends.
class CallbackErrors {
 public:
  CallbackErrors();
  ~CallbackErrors();
  CallbackErrors(const CallbackErrors&) = delete;
  CallbackErrors& operator=(const CallbackErrors&) = delete;
  // Raises what ends more than a callback: KeyboardInterrupt, SystemExit, all that is no Exception.
  // False: there was none.
  bool RaiseInterrupt();

  // Trivial, so that the thread's variable is.
  struct Kept {
    PyObject* error = nullptr;      // of the first callback that failed
    PyObject* words = nullptr;      // the message of the status that it became
    PyObject* interrupt = nullptr;  // the last of them
    bool in_call = false;           // somebody asks for these
  };

 private:
  Kept outer_;
};

// The Python error that is set, as a status. The call keeps it: as the cause of that status, or to be
// raised where it is an interrupt.
absl::Status TakeCallbackError(const char* callback);
// The words of an exception object: "ValueError: no such user".
absl::Status ExceptionStatus(const char* callback, PyObject* exception);
// For a Python error that has no other way out: an interrupt is raised by the call that is under way on
// this thread. Without one it is told to sys.unraisablehook, as of `source`, and so are other errors,
// unless `source` is nullptr.
void TakeLooseError(PyObject* source);

}  // namespace liststore::python

#endif  // LISTSTORE_TOOLS_PYTHON_CACHE_EXTENSION_ERRORS_H_
