// Python's C interface, and what keeps its references and its lock in order. All of this folder stays
// within the part of the interface that does not change from version to version (abi3).
#ifndef LISTSTORE_TOOLS_PYTHON_CACHE_EXTENSION_PYTHON_H_
#define LISTSTORE_TOOLS_PYTHON_CACHE_EXTENSION_PYTHON_H_

#ifndef PY_SSIZE_T_CLEAN
#define PY_SSIZE_T_CLEAN
#endif
#include <Python.h>

#include <string_view>
#include <utility>

namespace liststore::python {

// One reference.
class Ref {
 public:
  Ref() = default;
  explicit Ref(PyObject* owned) : object_(owned) {}
  static Ref Borrowed(PyObject* object) {
    Py_XINCREF(object);
    return Ref(object);
  }
  ~Ref() { Py_XDECREF(object_); }
  Ref(Ref&& other) noexcept : object_(other.Release()) {}
  Ref& operator=(Ref&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  Ref(const Ref&) = delete;
  Ref& operator=(const Ref&) = delete;

  PyObject* get() const { return object_; }
  PyObject* Release() { return std::exchange(object_, nullptr); }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  PyObject* object_ = nullptr;
};

// Takes Python's lock on a thread that may or may not have it: for callbacks.
class WithGil {
 public:
  WithGil() : state_(PyGILState_Ensure()) {}
  ~WithGil() { PyGILState_Release(state_); }
  WithGil(const WithGil&) = delete;
  WithGil& operator=(const WithGil&) = delete;

 private:
  PyGILState_STATE state_;
};

// Lets go of Python's lock on a thread that has it.
class WithoutGil {
 public:
  explicit WithoutGil(bool wanted = true) : state_(wanted ? PyEval_SaveThread() : nullptr) {}
  ~WithoutGil() {
    if (state_ != nullptr) PyEval_RestoreThread(state_);
  }
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

 private:
  PyThreadState* state_;
};

// What no longer has members: gives the object's memory back, and the reference to its type.
inline void FreeObject(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(reinterpret_cast<PyObject*>(type));
}

inline PyObject* ToText(std::string_view text) {
  return PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace");
}
inline PyObject* ToBytesObject(std::string_view bytes) {
  return PyBytes_FromStringAndSize(bytes.data(), static_cast<Py_ssize_t>(bytes.size()));
}
inline PyObject* None() {
  Py_INCREF(Py_None);
  return Py_None;
}

// Methods by position and by name, and those with one argument or none.
using NamedCall = PyObject*(PyObject* self, PyObject* const* args, Py_ssize_t count,
                            PyObject* names);
using PlainCall = PyObject*(PyObject* self, PyObject* argument);

inline constexpr int kNamed = METH_FASTCALL | METH_KEYWORDS;

template <typename Function>
void* Slot(Function function) {
  return reinterpret_cast<void*>(function);
}

}  // namespace liststore::python

#endif  // LISTSTORE_TOOLS_PYTHON_CACHE_EXTENSION_PYTHON_H_
