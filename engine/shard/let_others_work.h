// LetOthersWork: a pause between two slices of long work.
#ifndef LISTSTORE_ENGINE_SHARD_LET_OTHERS_WORK_H_
#define LISTSTORE_ENGINE_SHARD_LET_OTHERS_WORK_H_

#include <chrono>
#include <thread>

namespace liststore::shard {

// Between two slices that hold lanes, holding none: whoever waits for these comes first, and a
// thread that has slept is not taken off its core within the next slice.
inline void LetOthersWork() { std::this_thread::sleep_for(std::chrono::microseconds(100)); }

}  // namespace liststore::shard

#endif  // LISTSTORE_ENGINE_SHARD_LET_OTHERS_WORK_H_
