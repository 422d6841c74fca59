#include "tools/python_cache/extension/arguments.h"

#include "tools/python_cache/extension/errors.h"

namespace liststore::python {
namespace {

// An object of a number, for a message. False: nothing of a number.
bool RaiseNumber(const char* what, const char* range) {
  if (PyErr_ExceptionMatches(PyExc_OverflowError)) {
    PyErr_Clear();
    RaiseInvalid("%s is not in %s", what, range);
  } else if (PyErr_ExceptionMatches(PyExc_TypeError)) {
    PyErr_Clear();
    PyErr_Format(PyExc_TypeError, "%s must be an int", what);
  }
  return false;
}

}  // namespace

bool BindArguments(const char* function, PyObject* const* args, Py_ssize_t count,
                   PyObject* keyword_names, Argument* wanted, size_t wanted_count, size_t required,
                   size_t positional) {
  const auto given = static_cast<size_t>(count);
  if (given > positional) {
    PyErr_Format(PyExc_TypeError, "%s() takes %zu arguments by position, and %zu were given",
                 function, positional, given);
    return false;
  }
  for (size_t i = 0; i < given; ++i) wanted[i].value = args[i];
  const Py_ssize_t named = keyword_names == nullptr ? 0 : PyTuple_Size(keyword_names);
  for (Py_ssize_t k = 0; k < named; ++k) {
    PyObject* const name = PyTuple_GetItem(keyword_names, k);
    size_t at = 0;
    while (at < wanted_count && PyUnicode_CompareWithASCIIString(name, wanted[at].name) != 0) ++at;
    if (at == wanted_count) {
      PyErr_Format(PyExc_TypeError, "%s() has no argument '%U'", function, name);
      return false;
    }
    if (wanted[at].value != nullptr) {
      PyErr_Format(PyExc_TypeError, "%s() got '%U' twice", function, name);
      return false;
    }
    wanted[at].value = args[count + k];
  }
  for (size_t i = 0; i < required; ++i) {
    if (wanted[i].value != nullptr) continue;
    PyErr_Format(PyExc_TypeError, "%s() needs '%s'", function, wanted[i].name);
    return false;
  }
  return true;
}

bool ToName(PyObject* object, const char* what, std::string_view* name) {
  Py_ssize_t size = 0;
  if (PyUnicode_Check(object)) [[likely]] {
    const char* const data = PyUnicode_AsUTF8AndSize(object, &size);
    if (data == nullptr) return false;
    *name = {data, static_cast<size_t>(size)};
    return true;
  }
  if (!PyBytes_Check(object)) {
    PyErr_Format(PyExc_TypeError, "%s must be str, or bytes of UTF-8", what);
    return false;
  }
  char* data = nullptr;
  if (PyBytes_AsStringAndSize(object, &data, &size) != 0) return false;
  *name = {data, static_cast<size_t>(size)};
  return true;
}

bool ToValue(PyObject* object, std::string_view* value) {
  if (!PyBytes_Check(object)) {
    PyErr_SetString(PyExc_TypeError, "a value must be bytes");
    return false;
  }
  Py_ssize_t size = 0;
  char* data = nullptr;
  if (PyBytes_AsStringAndSize(object, &data, &size) != 0) return false;
  *value = {data, static_cast<size_t>(size)};
  return true;
}

bool ToNanos(PyObject* object, const char* what, uint64_t* nanos) {
  *nanos = PyLong_AsUnsignedLongLong(object);
  if (*nanos != static_cast<uint64_t>(-1) || !PyErr_Occurred()) [[likely]] {
    return true;
  }
  if (PyErr_ExceptionMatches(PyExc_TypeError) && PyIndex_Check(object)) {
    // An integer of another kind: one of numpy, say.
    PyErr_Clear();
    const Ref number(PyNumber_Index(object));
    if (number) return ToNanos(number.get(), what, nanos);
  }
  return RaiseNumber(what, "0 to 9,999,999,999,999,999,999 ns");
}

bool ToSeconds(PyObject* object, const char* what, int64_t* seconds) {
  *seconds = PyLong_AsLongLong(object);
  if (*seconds != -1 || !PyErr_Occurred()) return true;
  return RaiseNumber(what, "64 bits");
}

bool ToSize(PyObject* object, const char* what, size_t* size) {
  *size = PyLong_AsSize_t(object);
  if (*size != static_cast<size_t>(-1) || !PyErr_Occurred()) [[likely]] {
    return true;
  }
  return RaiseNumber(what, "0 to 2**64 - 1");
}

bool ToGetOptions(const Argument* given, GetOptions* options) {
  PyObject* const limit = given[0].value;
  PyObject* const since = given[1].value;
  PyObject* const before = given[2].value;
  PyObject* const expiry = given[3].value;
  if (limit != nullptr && !ToSize(limit, "limit", &options->limit)) return false;
  if (since != nullptr && since != Py_None &&
      !ToNanos(since, "since_nanos", &options->min_timestamp_nanos)) {
    return false;
  }
  if (before != nullptr && before != Py_None &&
      !ToNanos(before, "before_nanos", &options->max_timestamp_nanos.emplace())) {
    return false;
  }
  if (expiry != nullptr) {
    const int wanted = PyObject_IsTrue(expiry);
    if (wanted < 0) return false;
    options->with_expiry = wanted == 1;
  }
  return true;
}

bool ParsedItems::Parse(PyObject* iterable) {
  held_ = Ref(PySequence_Tuple(iterable));
  if (!held_) return false;
  const Py_ssize_t count = PyTuple_Size(held_.get());
  items_.reserve(static_cast<size_t>(count));
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* pair = PyTuple_GetItem(held_.get(), i);
    if (!PyTuple_Check(pair)) {
      pairs_.emplace_back(PySequence_Tuple(pair));
      pair = pairs_.back().get();
      if (pair == nullptr) return false;
    }
    if (PyTuple_Size(pair) != 2) {
      PyErr_Format(PyExc_ValueError, "item %zd is not a pair (timestamp_nanos, value)", i);
      return false;
    }
    NewItem& item = items_.emplace_back();
    if (!ToNanos(PyTuple_GetItem(pair, 0), "timestamp_nanos", &item.timestamp_nanos) ||
        !ToValue(PyTuple_GetItem(pair, 1), &item.value)) {
      return false;
    }
  }
  return true;
}

}  // namespace liststore::python
