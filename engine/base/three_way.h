// Three-way comparison as an int, which is what encodings and types of CQL compare by.
#ifndef LISTSTORE_ENGINE_BASE_THREE_WAY_H_
#define LISTSTORE_ENGINE_BASE_THREE_WAY_H_

namespace liststore {

// -1: a < b; 1: b < a; 0: neither.
template <typename T>
constexpr int ThreeWay(const T& a, const T& b) {
  return a < b ? -1 : b < a ? 1 : 0;
}

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_BASE_THREE_WAY_H_
