// ManualClock: a clock for tests.
#include <new>

#include "tools/python_cache/extension/arguments.h"
#include "tools/python_cache/extension/guarded.h"
#include "tools/python_cache/extension/store.h"

namespace liststore::python {

PyTypeObject* clock_type = nullptr;

namespace {

ManualClock*& ClockOf(PyObject* self) { return reinterpret_cast<ClockObject*>(self)->clock; }

PyObject* NewClock(PyTypeObject* type, PyObject* arguments, PyObject* keywords) {
  static const char* names[] = {"now_nanos", nullptr};
  PyObject* now = nullptr;
  uint64_t nanos = 0;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O:ManualClock", const_cast<char**>(names),
                                   &now) ||
      !ToNanos(now, "now_nanos", &nanos)) {
    return nullptr;
  }
  PyObject* const self = PyType_GenericAlloc(type, 0);
  if (self == nullptr) return nullptr;
  ClockOf(self) = new (std::nothrow) ManualClock(nanos);
  if (ClockOf(self) != nullptr) return self;
  Py_DECREF(self);
  return PyErr_NoMemory();
}

void DeallocClock(PyObject* self) {
  delete ClockOf(self);
  FreeObject(self);
}

PyObject* SetClock(PyObject* self, PyObject* now) {
  uint64_t nanos = 0;
  if (!ToNanos(now, "now_nanos", &nanos)) return nullptr;
  ClockOf(self)->SetNanos(nanos);
  return None();
}

PyObject* AdvanceClock(PyObject* self, PyObject* by) {
  uint64_t nanos = 0;
  if (!ToNanos(by, "nanos", &nanos)) return nullptr;
  ClockOf(self)->AdvanceNanos(nanos);
  return None();
}

PyObject* Now(PyObject* self, void*) {
  return PyLong_FromUnsignedLongLong(ClockOf(self)->NowNanos());
}

PyMethodDef clock_methods[] = {{"set", Method<SetClock>(), METH_O,
                                "set(now_nanos)\n\nNanoseconds since 1970. See Store.move_clock."},
                               {"advance", Method<AdvanceClock>(), METH_O, "advance(nanos)"},
                               {nullptr, nullptr, 0, nullptr}};
PyGetSetDef clock_members[] = {
    {"now_nanos", Now, nullptr, "Where it stands, in nanoseconds since 1970.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyType_Slot clock_slots[] = {
    {Py_tp_new, SafeSlot<NewClock>()},
    {Py_tp_dealloc, Slot(DeallocClock)},
    {Py_tp_methods, clock_methods},
    {Py_tp_getset, clock_members},
    {Py_tp_doc, const_cast<char*>("ManualClock(now_nanos)\n--\n\nA clock that stands still until "
                                  "it is moved: for tests.")},
    {0, nullptr}};
PyType_Spec clock_spec = {"liststore_cache.ManualClock", sizeof(ClockObject), 0, Py_TPFLAGS_DEFAULT,
                          clock_slots};

}  // namespace

bool AddClockType(PyObject* module) {
  clock_type = AddType(module, &clock_spec, "ManualClock", nullptr);
  return clock_type != nullptr;
}

}  // namespace liststore::python
