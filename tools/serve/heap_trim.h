// HeapTrim: keeps the heap of a server that is near its memory limit from holding what nobody uses.
#ifndef LISTSTORE_TOOLS_SERVE_HEAP_TRIM_H_
#define LISTSTORE_TOOLS_SERVE_HEAP_TRIM_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

namespace liststore {

// What was freed of the heap lies between what was not: the C library gives back the end of it alone,
// and a server that has answered large and small requests for long holds some ten MiB more than it
// counts. Near the limit they are looked for and given back: when a large request is over, before
// another one has its room; and by a thread of its own for what is freed otherwise, which looks ten
// times a second, and once where the limit is far. What is resident it tells a listener, for whom the
// program's own share is too. A look costs a read of /proc, some 10 us; finding
// free pages takes some milliseconds, and where little was found it is left for a second. Where the
// heap is another than glibc's it does nothing.
class HeapTrim {
 public:
  // `limit_bytes`: of the process. Where no thread can be had, large requests alone give back.
  explicit HeapTrim(uint64_t limit_bytes);
  ~HeapTrim();
  HeapTrim(const HeapTrim&) = delete;
  HeapTrim& operator=(const HeapTrim&) = delete;

  // Any thread.
  void SetLimit(uint64_t limit_bytes) { limit_bytes_.store(limit_bytes); }
  // Who hears of what is resident at each look, and says whether the program has more than its share:
  // then it is given back wherever the limit is. Called by the thread alone; when this returns, nobody
  // calls the one before. Empty: nobody.
  void SetListener(std::function<bool(uint64_t resident_bytes)> listener);
  // So many bytes of the heap were freed, at most. Gives back what is free when some MiB have been.
  // Any thread; some milliseconds where it does, for one of those who call.
  void NoteFreed(uint64_t bytes);

 private:
  void Run();
  bool Tell(uint64_t resident_bytes);
  // False: the time is over.
  bool Wait(int millis);

  std::atomic<uint64_t> limit_bytes_;
  std::atomic<uint64_t> freed_bytes_ = 0;  // since it was given back last
  std::mutex mutex_;
  std::condition_variable ends_;
  std::mutex listener_mutex_;  // held while it is called
  std::function<bool(uint64_t)> listener_;
  bool is_over_ = false;
  std::thread thread_;
};

}  // namespace liststore

#endif  // LISTSTORE_TOOLS_SERVE_HEAP_TRIM_H_
