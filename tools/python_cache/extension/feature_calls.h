// The methods of Feature.
#ifndef LISTSTORE_TOOLS_PYTHON_CACHE_EXTENSION_FEATURE_CALLS_H_
#define LISTSTORE_TOOLS_PYTHON_CACHE_EXTENSION_FEATURE_CALLS_H_

#include "tools/python_cache/extension/python.h"

namespace liststore::python {

NamedCall Newest;
NamedCall ReadItems;
NamedCall ReadView;
NamedCall MultiGet;
NamedCall Count;
PlainCall ForEachList;
NamedCall Add;
NamedCall AddItems;
NamedCall AddArrays;
NamedCall RemoveValue;
NamedCall RemoveAll;
NamedCall LoadMark;
NamedCall Put;
NamedCall Forget;

}  // namespace liststore::python

#endif  // LISTSTORE_TOOLS_PYTHON_CACHE_EXTENSION_FEATURE_CALLS_H_
