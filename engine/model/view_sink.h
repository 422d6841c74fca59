// ViewSink: takes rows of a read and may keep pointing to those that lie in one block, which its
// owner then keeps as it is.
#ifndef LISTSTORE_ENGINE_MODEL_VIEW_SINK_H_
#define LISTSTORE_ENGINE_MODEL_VIEW_SINK_H_

#include <string_view>

#include "engine/model/row_view.h"

namespace liststore::storage {
// Of a block that is kept for a view: opaque here.
struct ViewPin;
}  // namespace liststore::storage

namespace liststore {

class ViewSink : public RowSink {
 public:
  // Before any rows: bytes of theirs that lie in `block` stay as they are until the view goes.
  // Empty: none do.
  virtual void OnBlock(std::string_view block) = 0;
  // After the rows: something of the block was kept.
  virtual bool PointsIntoBlock() const = 0;
};

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_MODEL_VIEW_SINK_H_
