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
thread_local PyObject* callback_error = nullptr;

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
  const Ref text(ToText({status.message().data(), status.message().size()}));
  if (!text) return nullptr;
  return PyObject_CallFunctionObjArgs(ErrorClass(status.code()), text.get(), nullptr);
}

PyObject* Raise(const absl::Status& status) {
  Ref cause(std::exchange(callback_error, nullptr));
  const Ref exception(ToException(status));
  if (!exception) return nullptr;
  if (cause) PyException_SetCause(exception.get(), cause.Release());
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.get())), exception.get());
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

absl::Status ExceptionStatus(const char* callback, PyObject* exception) {
  const Ref name(
      PyObject_GetAttrString(reinterpret_cast<PyObject*>(Py_TYPE(exception)), "__name__"));
  const Ref text(PyObject_Str(exception));
  const char* const name_text = name ? PyUnicode_AsUTF8AndSize(name.get(), nullptr) : nullptr;
  const char* const words = text ? PyUnicode_AsUTF8AndSize(text.get(), nullptr) : nullptr;
  std::string said =
      absl::StrCat("the ", callback, " raised ", name_text != nullptr ? name_text : "an exception",
                   ": ", words != nullptr ? words : "");
  PyErr_Clear();
  return absl::AbortedError(said);
}

absl::Status TakeCallbackError(const char* callback) {
  PyObject* type = nullptr;
  PyObject* value = nullptr;
  PyObject* trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  if (trace != nullptr && value != nullptr) PyException_SetTraceback(value, trace);
  Py_XDECREF(type);
  Py_XDECREF(trace);
  if (value == nullptr) return absl::AbortedError(absl::StrCat("the ", callback, " failed"));
  absl::Status status = ExceptionStatus(callback, value);
  Py_XDECREF(std::exchange(callback_error, value));
  return status;
}

void DropCallbackError() { Py_XDECREF(std::exchange(callback_error, nullptr)); }

}  // namespace liststore::python
