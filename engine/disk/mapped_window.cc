#include "engine/disk/mapped_window.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <mutex>

namespace liststore::disk {
namespace {

// What the handler looks through: it may take no lock. A place is free while `begin` is 0; `bytes` is
// set before `begin` is.
struct Place {
  std::atomic<uintptr_t> begin{0};
  std::atomic<size_t> bytes{0};
  std::atomic<bool> is_taken{false};
  std::atomic<bool> has_failed{false};
};
std::array<Place, MappedWindow::kWindowsMax> places;
uintptr_t page_bytes = 0;
struct sigaction handler_before = {};

// Memory of no file for the page at `address`; the store there is made again. Both calls are plain
// system calls, which a handler may make.
bool PutMemoryAt(uintptr_t address) {
  void* const page = reinterpret_cast<void*>(address & ~(page_bytes - 1));
  const int error = errno;
  const bool is_put = ::mmap(page, page_bytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED;
  errno = error;
  return is_put;
}

// Else somebody has sent it, or the machine tells of memory that nobody has asked for.
bool IsOwnAccess(const siginfo_t& info) {
  return info.si_code == BUS_ADRALN || info.si_code == BUS_ADRERR || info.si_code == BUS_OBJERR ||
         info.si_code == BUS_MCEERR_AR;
}

void GoOnAsBefore(int signal, siginfo_t* info, void* context) {
  if ((handler_before.sa_flags & SA_SIGINFO) != 0) {
    handler_before.sa_sigaction(signal, info, context);
  } else if (handler_before.sa_handler != SIG_DFL && handler_before.sa_handler != SIG_IGN) {
    handler_before.sa_handler(signal);
  } else if (IsOwnAccess(*info)) {
    // What was done is done again, and ends the process.
    ::signal(SIGBUS, SIG_DFL);
  } else if (handler_before.sa_handler == SIG_DFL) {
    ::signal(SIGBUS, SIG_DFL);
    ::raise(SIGBUS);
  }
}

void OnBusError(int signal, siginfo_t* info, void* context) {
  const auto address = reinterpret_cast<uintptr_t>(info->si_addr);
  for (Place& place : places) {
    const uintptr_t begin = place.begin.load(std::memory_order_acquire);
    const size_t bytes = place.bytes.load(std::memory_order_acquire);
    // Of one mapping: another thread may map elsewhere meanwhile.
    if (place.begin.load(std::memory_order_acquire) != begin) continue;
    if (!IsOwnAccess(*info) || begin == 0 || address < begin || address - begin >= bytes) continue;
    if (!PutMemoryAt(address)) break;
    place.has_failed.store(true, std::memory_order_release);
    return;
  }
  GoOnAsBefore(signal, info, context);
}

// True: the handler is there.
bool SetHandlerOnce() {
  static std::once_flag once;
  static bool is_set = false;
  std::call_once(once, [] {
    page_bytes = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
    struct sigaction handler = {};
    handler.sa_sigaction = &OnBusError;
    if (::sigaction(SIGBUS, nullptr, &handler_before) != 0) return;
    // On the stack that a runtime has for signals, which some cannot do without.
    handler.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
    handler.sa_mask = handler_before.sa_mask;
    is_set = ::sigaction(SIGBUS, &handler, nullptr) == 0;
  });
  return is_set;
}

// kWindowsMax: none is free.
size_t TakePlace() {
  for (size_t i = 0; i < places.size(); ++i) {
    if (places[i].is_taken.load(std::memory_order_relaxed)) continue;
    if (!places[i].is_taken.exchange(true, std::memory_order_acquire)) return i;
  }
  return places.size();
}

}  // namespace

bool MappedWindow::Map(int file, uint64_t offset, size_t bytes) {
  Unmap();
  if (!SetHandlerOnce()) return false;
  const size_t place = TakePlace();
  if (place == kWindowsMax) return false;
  char* const begin = calls_.Map(file, offset, bytes);
  if (begin == nullptr) {
    places[place].is_taken.store(false, std::memory_order_release);
    return false;
  }
  place_ = place;
  places[place].has_failed.store(false, std::memory_order_relaxed);
  places[place].bytes.store(bytes, std::memory_order_release);
  places[place].begin.store(reinterpret_cast<uintptr_t>(begin), std::memory_order_release);
  begin_ = begin;
  offset_ = offset;
  bytes_ = bytes;
  return true;
}

void MappedWindow::Unmap() {
  if (begin_ == nullptr) return;
  // The handler forgets it first: another mapping may come to the same addresses.
  places[place_].begin.store(0, std::memory_order_release);
  places[place_].is_taken.store(false, std::memory_order_release);
  calls_.Unmap(begin_, bytes_);
  begin_ = nullptr;
  bytes_ = 0;
}

bool MappedWindow::has_failed() const {
  return begin_ != nullptr && places[place_].has_failed.load(std::memory_order_acquire);
}

}  // namespace liststore::disk
