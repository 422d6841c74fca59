// Reply: what became of a command.
#ifndef LISTSTORE_ENGINE_COMMAND_REPLY_H_
#define LISTSTORE_ENGINE_COMMAND_REPLY_H_

#include <cstdint>

#include "engine/model/mutation.h"
#include "engine/model/op_status.h"
#include "engine/model/presence.h"
#include "engine/model/time.h"

namespace liststore {

struct Reply {
  OpStatus status = OpStatus::kOk;
  bool refused = false;      // a put: the partition was changed since its mark
  uint64_t rows = 0;         // rows read or counted; live rows that a deletion took; forgotten: 1
  WriteTimestamp timestamp;  // under which a write was applied
  PartitionInfo info;        // of a read; of a count the dead rows alone
  RowSize large_row = {};    // kRowTooLarge; of a batch in its first reply
};

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_COMMAND_REPLY_H_
