// Boost.JSON in one translation unit instead of a library to link.
#include <boost/json/src.hpp>
