// Boost.JSON's own code, compiled once here: the library is used header-only.
#include <boost/json/src.hpp>
