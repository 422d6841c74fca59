#include "engine/faces/cql/login_check.h"

#include <atomic>
#include <new>
#include <utility>

#include "engine/base/check.h"

namespace liststore::cql_face {
namespace {

// Among the clients of the pool: none of the sessions, nor that of the schema.
constexpr uint64_t kLoginClient = UINT64_MAX - 1;

}  // namespace

// Made by the loop, then a worker's until it has posted that it is done, then the loop's again; but
// for what is said of it.
struct LoginCheck::Attempt {
  LoginAttempt asked;
  std::optional<std::string> refusal;
  bool heap_refuses = false;
  // Any thread: nobody waits for it.
  std::atomic<bool> is_cancelled{false};
  // That it is done is said in any case.
  runtime::PostMemory done_memory;
  // The loop's.
  LoginCheck* owner = nullptr;  // nullptr: it has gone
  bool is_done = false;
};

LoginCheck::~LoginCheck() {
  if (attempt_ == nullptr) return;
  attempt_->owner = nullptr;
  attempt_->is_cancelled.store(true, std::memory_order_relaxed);
}

bool LoginCheck::Begin(LoginAttempt asked, roles::Authenticator& authenticator, LongWork& work) {
  LS_CHECK(attempt_ == nullptr, "a client logs in once at a time");
  auto attempt = std::make_shared<Attempt>();
  attempt->asked = std::move(asked);
  attempt->owner = this;
  const auto check = [attempt, &authenticator, &loop = loop_] {
    try {
      if (!attempt->is_cancelled.load(std::memory_order_relaxed)) {
        attempt->refusal = authenticator.LogIn(attempt->asked.user, attempt->asked.password);
      }
    } catch (const std::bad_alloc&) {
      attempt->heap_refuses = true;
    }
    loop.Post(attempt->done_memory, [attempt] {
      attempt->is_done = true;
      if (attempt->owner != nullptr) attempt->owner->client_.Wake();
    });
  };
  if (!work.pool.Post(kLoginClient, check)) return false;
  attempt_ = std::move(attempt);
  return true;
}

std::unique_ptr<CheckedLogin> LoginCheck::TakeDone() {
  if (attempt_ == nullptr || !attempt_->is_done) return nullptr;
  const std::shared_ptr<Attempt> done = std::exchange(attempt_, nullptr);
  // As anywhere on a loop.
  if (done->heap_refuses) throw std::bad_alloc();
  return std::make_unique<CheckedLogin>(
      CheckedLogin{std::move(done->asked), std::move(done->refusal)});
}

}  // namespace liststore::cql_face
