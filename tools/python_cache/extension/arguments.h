// Arguments of calls: by position or by name, and what they become.
#ifndef LISTSTORE_TOOLS_PYTHON_CACHE_EXTENSION_ARGUMENTS_H_
#define LISTSTORE_TOOLS_PYTHON_CACHE_EXTENSION_ARGUMENTS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "liststore/list_item.h"
#include "tools/python_cache/extension/python.h"

namespace liststore::python {

// What a function takes, with the value of each that was given (borrowed). None counts as given.
struct Argument {
  const char* name;
  PyObject* value = nullptr;
};

// Fills `wanted`, of which the first `required` must be given and the first `positional` may be by
// position. False: a Python error is set.
bool BindArguments(const char* function, PyObject* const* args, Py_ssize_t count,
                   PyObject* keyword_names, Argument* wanted, size_t wanted_count, size_t required,
                   size_t positional);

template <size_t kCount>
bool Bind(const char* function, PyObject* const* args, Py_ssize_t count, PyObject* keyword_names,
          std::array<Argument, kCount>& wanted, size_t required, size_t positional = kCount) {
  return BindArguments(function, args, count, keyword_names, wanted.data(), kCount, required,
                       positional);
}

// str as UTF-8, or bytes. Borrowed from the object. False: a Python error is set.
bool ToName(PyObject* object, const char* what, std::string_view* name);
// bytes, borrowed.
bool ToValue(PyObject* object, std::string_view* value);
bool ToNanos(PyObject* object, const char* what, uint64_t* nanos);
bool ToSeconds(PyObject* object, const char* what, int64_t* seconds);
bool ToSize(PyObject* object, const char* what, size_t* size);

// Limit, bounds and expiry of a read, in this order; those that are not given stay as they are.
inline constexpr size_t kReadArguments = 4;
bool ToGetOptions(const Argument* given, GetOptions* options);

// Items from an iterable of pairs (timestamp_nanos, value). They borrow from `held`.
class ParsedItems {
 public:
  bool Parse(PyObject* iterable);
  const std::vector<NewItem>& items() const { return items_; }

 private:
  Ref held_;
  std::vector<Ref> pairs_;  // of those that are no tuples
  std::vector<NewItem> items_;
};

}  // namespace liststore::python

#endif  // LISTSTORE_TOOLS_PYTHON_CACHE_EXTENSION_ARGUMENTS_H_
