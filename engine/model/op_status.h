// What became of a command, as a number: the data path builds no strings.
// command/status_conversion.h turns it into an absl::Status at the library's edge, the server into
// an ERROR frame.
#ifndef LISTSTORE_ENGINE_MODEL_OP_STATUS_H_
#define LISTSTORE_ENGINE_MODEL_OP_STATUS_H_

#include <cstdint>

namespace liststore {

enum class OpStatus : uint8_t {
  kOk,
  kOutOfMemory,  // the memory limit would be passed; nothing of the command was applied
  kTableGone,    // the table was dropped or rebuilt meanwhile; nothing was applied
  kTooLarge,     // the same, and it would not fit if all else were evicted; within the engine only
  kTooManyTables,  // no id is left for another table
  kRowTooLarge,    // a row would be larger than it may be; nothing of the command was applied
  kNotKept,        // the commit log has no room, or cannot be written; nothing was applied
  kBadRecord,      // of replay: what is to be applied does not fit its table
};

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_MODEL_OP_STATUS_H_
