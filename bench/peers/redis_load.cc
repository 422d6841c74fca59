#include "bench/peers/redis_load.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <cerrno>

#include "engine/base/check.h"
#include "engine/base/status_macros.h"

namespace liststore {
namespace {

constexpr int kWaitMillis = 60'000;

}  // namespace

RedisLoad::RedisLoad(const Clients& clients, size_t in_flight)
    : clients_(clients),
      in_flight_(in_flight),
      epoll_(epoll_create1(EPOLL_CLOEXEC)),
      turns_(clients.size()),
      sent_at_(clients.size() * in_flight) {
  LS_CHECK(epoll_ >= 0, "an epoll can be made");
  LS_CHECK(in_flight > 0, "a connection has something under way");
  for (size_t i = 0; i < clients.size(); ++i) {
    epoll_event event = {};
    event.events = EPOLLIN;
    event.data.u64 = i;
    LS_CHECK(epoll_ctl(epoll_, EPOLL_CTL_ADD, clients[i]->fd(), &event) == 0,
             "an open socket can be watched");
  }
}

RedisLoad::~RedisLoad() { close(epoll_); }

// False: the source has no more.
bool RedisLoad::Append(size_t connection, RedisSource& source) {
  Turn& turn = turns_[connection];
  LS_DCHECK(turn.next_sent + turn.unsent - turn.next_answered < in_flight_, "a place is free");
  const size_t slot = SlotOf(connection, turn.next_sent + turn.unsent);
  if (!source.Next(slot, clients_[connection]->requests())) return false;
  ++turn.unsent;
  return true;
}

absl::Status RedisLoad::Send(size_t connection) {
  Turn& turn = turns_[connection];
  if (turn.unsent == 0) return absl::OkStatus();
  const Steady::time_point now = Steady::now();
  for (; turn.unsent > 0; --turn.unsent) {
    sent_at_[SlotOf(connection, turn.next_sent++)] = now;
    ++under_way_;
  }
  return clients_[connection]->Send();
}

absl::Status RedisLoad::Serve(size_t connection, RedisSource& source, Histogram* latency) {
  RedisClient& client = *clients_[connection];
  Turn& turn = turns_[connection];
  LS_RETURN_IF_ERROR(client.Receive());
  const Steady::time_point now = Steady::now();
  while (true) {
    LS_ASSIGN_OR_RETURN(const RedisReply* reply, client.Take());
    if (reply == nullptr) break;
    if (turn.next_answered == turn.next_sent) {
      return absl::InvalidArgumentError("an answer came that nothing had asked for");
    }
    const size_t slot = SlotOf(connection, turn.next_answered++);
    --under_way_;
    ++replies_;
    if (latency != nullptr) {
      latency->Record(static_cast<uint64_t>(
          std::chrono::duration_cast<std::chrono::nanoseconds>(now - sent_at_[slot]).count()));
    }
    LS_RETURN_IF_ERROR(source.OnReply(slot, *reply));
    if (!ends_) ends_ = !Append(connection, source);
  }
  return Send(connection);
}

absl::Status RedisLoad::Run(RedisSource& source, double seconds, Histogram* latency, WireRun* run) {
  ends_ = false;
  replies_ = 0;
  const Steady::time_point begin = Steady::now();
  const auto elapsed = [begin] {
    return std::chrono::duration<double>(Steady::now() - begin).count();
  };
  for (size_t i = 0; i < clients_.size(); ++i) {
    for (size_t k = 0; k < in_flight_ && !ends_; ++k) ends_ = !Append(i, source);
    LS_RETURN_IF_ERROR(Send(i));
  }
  bool measured = false;
  while (under_way_ > 0) {
    epoll_event events[64];
    const int count = epoll_wait(epoll_, events, 64, kWaitMillis);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return absl::DeadlineExceededError("the server does not answer");
    for (int i = 0; i < count; ++i) {
      LS_RETURN_IF_ERROR(Serve(static_cast<size_t>(events[i].data.u64), source, latency));
    }
    if (measured) continue;
    if (seconds > 0 && elapsed() >= seconds) ends_ = true;
    if (!ends_) continue;
    measured = true;
    *run = {replies_, elapsed()};
  }
  if (!measured) *run = {replies_, elapsed()};
  return absl::OkStatus();
}

}  // namespace liststore
