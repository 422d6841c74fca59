// Assertions. LS_CHECK stays on in every build and is for what must hold for memory to stay sound
// (ownership, bounds, lengths); LS_DCHECK is for everything else and vanishes from release builds.
// Neither is ever reachable by user input: bad input is an error, a broken invariant ends the
// process.
#ifndef LISTSTORE_ENGINE_BASE_CHECK_H_
#define LISTSTORE_ENGINE_BASE_CHECK_H_

namespace liststore {

// Prints file, line, the condition and a backtrace to standard error, then aborts. Never returns.
[[noreturn]] void CheckFailed(const char* file, int line, const char* condition,
                              const char* message);

}  // namespace liststore

// `message` is a string literal that says what must stay true.
#define LS_CHECK(condition, message)                    \
  (__builtin_expect(static_cast<bool>(condition), true) \
       ? static_cast<void>(0)                           \
       : ::liststore::CheckFailed(__FILE__, __LINE__, #condition, (message)))

#ifdef NDEBUG
#define LS_DCHECK(condition, message) static_cast<void>(sizeof(static_cast<bool>(condition)))
#else
#define LS_DCHECK(condition, message) LS_CHECK(condition, message)
#endif

#define LS_UNREACHABLE(message) \
  ::liststore::CheckFailed(__FILE__, __LINE__, "unreachable", (message))

#endif  // LISTSTORE_ENGINE_BASE_CHECK_H_
