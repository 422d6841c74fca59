// What a `get` returned, wherever it came from.
#ifndef LISTSTORE_TOOLS_REPLAY_READ_ITEMS_H_
#define LISTSTORE_TOOLS_REPLAY_READ_ITEMS_H_

#include <cstddef>
#include <string>

namespace liststore {

// Newest first. `index` < size().
class ReadItems {
 public:
  virtual ~ReadItems() = default;
  virtual size_t size() const = 0;
  virtual std::string item_key(size_t index) const = 0;
  virtual std::string value(size_t index) const = 0;
};

}  // namespace liststore

#endif  // LISTSTORE_TOOLS_REPLAY_READ_ITEMS_H_
