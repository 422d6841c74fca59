#include "tools/python_cache/extension/errors.h"

#include <array>
#include <cstdarg>
#include <cstdio>
#include <string>

#include "absl/strings/str_cat.h"

namespace liststore::python {
namespace {

constexpr int kCodes = 17;
std::array<PyObject*, kCodes> error_classes = {};

// Python's own convention for errors: what is under way on a thread belongs to the thread.
thread_local CallbackErrors::Kept kept;

// The exception object that is set, with its trace, taken. Nothing: the error was an empty one.
Ref TakeException() {
  PyObject* type = nullptr;
  PyObject* value = nullptr;
  PyObject* trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  if (trace != nullptr && value != nullptr) PyException_SetTraceback(value, trace);
  Py_XDECREF(type);
  Py_XDECREF(trace);
  return Ref(value);
}

bool IsInterrupt(PyObject* exception) {
  return PyErr_GivenExceptionMatches(exception, PyExc_Exception) == 0;
}

PyObject* Same(PyObject* object) {
  Py_XINCREF(object);
  return object;
}

void SetError(PyObject* exception) {
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception)), exception);
}

// Also where no call is under way on this thread: what stops a program is not lost without a word.
void KeepInterrupt(PyObject* exception, PyObject* source) {
  if (kept.in_call) {
    Py_XDECREF(std::exchange(kept.interrupt, Same(exception)));
    return;
  }
  SetError(exception);
  PyErr_WriteUnraisable(source);
}

PyObject* ToWords(const absl::Status& status) {
  return ToText({status.message().data(), status.message().size()});
}

// Whether `words` end with those of the exception that is kept, which is its cause then; reads of many
// lists say before them which list it was. Others may have come meanwhile: of a refresh, whose read went
// well, or of another list.
bool IsOfKept(PyObject* words) {
  return kept.error != nullptr && PyUnicode_Tailmatch(words, kept.words, 0, PY_SSIZE_T_MAX, 1) == 1;
}

const char* ClassOf(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kInvalidArgument:
      return "InvalidArgument";
    case absl::StatusCode::kNotFound:
      return "NotFound";
    case absl::StatusCode::kAlreadyExists:
      return "AlreadyExists";
    case absl::StatusCode::kPermissionDenied:
      return "PermissionDenied";
    case absl::StatusCode::kResourceExhausted:
      return "ResourceExhausted";
    case absl::StatusCode::kFailedPrecondition:
      return "FailedPrecondition";
    case absl::StatusCode::kInternal:
      return "Internal";
    case absl::StatusCode::kUnavailable:
      return "Unavailable";
    case absl::StatusCode::kDataLoss:
      return "DataLoss";
    case absl::StatusCode::kAborted:
      return "CallbackFailed";
    default:
      return "Unknown";
  }
}

PyObject* ErrorClass(absl::StatusCode code) {
  const int number = static_cast<int>(code);
  if (number < 0 || number >= kCodes) {
    return error_classes[static_cast<size_t>(absl::StatusCode::kUnknown)];
  }
  return error_classes[static_cast<size_t>(number)];
}

}  // namespace

bool LoadErrors() {
  const Ref module(PyImport_ImportModule("liststore_cache._errors"));
  if (!module) return false;
  for (int i = 1; i < kCodes; ++i) {
    PyObject* const found =
        PyObject_GetAttrString(module.get(), ClassOf(static_cast<absl::StatusCode>(i)));
    if (found == nullptr) return false;
    error_classes[static_cast<size_t>(i)] = found;
  }
  return true;
}

PyObject* ToException(const absl::Status& status) {
  const Ref text(ToWords(status));
  if (!text) return nullptr;
  return PyObject_CallFunctionObjArgs(ErrorClass(status.code()), text.get(), nullptr);
}

PyObject* Raise(const absl::Status& status) {
  const Ref exception(ToException(status));
  const Ref words(exception ? ToWords(status) : nullptr);
  if (!words) return nullptr;
  if (absl::IsAborted(status) && IsOfKept(words.get())) {
    PyException_SetCause(exception.get(), Same(kept.error));
  }
  SetError(exception.get());
  return nullptr;
}

PyObject* RaiseInvalid(const char* format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  return Raise(absl::InvalidArgumentError(text));
}

CallbackErrors::CallbackErrors() : outer_(std::exchange(kept, {})) { kept.in_call = true; }

CallbackErrors::~CallbackErrors() {
  const Kept mine = std::exchange(kept, outer_);
  Py_XDECREF(mine.error);
  Py_XDECREF(mine.words);
  Py_XDECREF(mine.interrupt);
}

// NOLINTNEXTLINE(readability-convert-member-functions-to-static): of the call, which is this object
bool CallbackErrors::RaiseInterrupt() {
  if (kept.interrupt == nullptr) return false;
  const Ref interrupt(std::exchange(kept.interrupt, nullptr));
  SetError(interrupt.get());
  return true;
}

absl::Status ExceptionStatus(const char* callback, PyObject* exception) {
  const Ref name(
      PyObject_GetAttrString(reinterpret_cast<PyObject*>(Py_TYPE(exception)), "__name__"));
  const Ref text(name ? PyObject_Str(exception) : nullptr);
  const char* const name_text = name ? PyUnicode_AsUTF8AndSize(name.get(), nullptr) : nullptr;
  const char* const words = text ? PyUnicode_AsUTF8AndSize(text.get(), nullptr) : nullptr;
  if (PyErr_Occurred()) TakeLooseError(nullptr);
  return absl::AbortedError(absl::StrCat("the ", callback, " raised ",
                                         name_text != nullptr ? name_text : "an exception", ": ",
                                         words != nullptr ? words : ""));
}

absl::Status TakeCallbackError(const char* callback) {
  const Ref exception = TakeException();
  if (!exception) return absl::AbortedError(absl::StrCat("the ", callback, " failed"));
  if (IsInterrupt(exception.get())) KeepInterrupt(exception.get(), nullptr);
  absl::Status status = ExceptionStatus(callback, exception.get());
  if (!kept.in_call || kept.error != nullptr) return status;
  kept.words = ToWords(status);
  if (kept.words != nullptr) {
    kept.error = Same(exception.get());
  } else {
    PyErr_Clear();
  }
  return status;
}

void TakeLooseError(PyObject* source) {
  const Ref exception = TakeException();
  if (!exception) return;
  if (IsInterrupt(exception.get())) {
    KeepInterrupt(exception.get(), source);
  } else if (source != nullptr) {
    SetError(exception.get());
    PyErr_WriteUnraisable(source);
  }
}

}  // namespace liststore::python
