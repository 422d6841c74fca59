#include "tools/liststore/wire_load.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <cerrno>

#include "engine/base/check.h"
#include "engine/base/status_macros.h"

namespace liststore {
namespace {

constexpr int kWaitMillis = 60'000;

}  // namespace

WireLoad::WireLoad(const Clients& clients, size_t in_flight)
    : clients_(clients), in_flight_(in_flight), epoll_(epoll_create1(EPOLL_CLOEXEC)) {
  LS_CHECK(epoll_ >= 0, "an epoll can be made");
  LS_CHECK(in_flight <= 0x7fff, "a stream is a positive number of 16 bits");
  sent_at_.resize(clients.size() * in_flight);
  for (size_t i = 0; i < clients.size(); ++i) {
    epoll_event event = {};
    event.events = EPOLLIN;
    event.data.u64 = i;
    LS_CHECK(epoll_ctl(epoll_, EPOLL_CTL_ADD, clients[i]->fd(), &event) == 0,
             "an open socket can be watched");
  }
}

WireLoad::~WireLoad() { close(epoll_); }

absl::Status WireLoad::Send(size_t connection) {
  if (sending_.empty()) return absl::OkStatus();
  const Steady::time_point now = Steady::now();
  for (const int16_t stream : sending_) {
    sent_at_[connection * in_flight_ + static_cast<size_t>(stream)] = now;
  }
  under_way_ += sending_.size();
  sending_.clear();
  return clients_[connection]->Send();
}

absl::Status WireLoad::Serve(size_t connection, WireSource& source, Histogram* latency) {
  CqlClient& client = *clients_[connection];
  LS_RETURN_IF_ERROR(client.Receive());
  const Steady::time_point now = Steady::now();
  for (CqlReply reply; client.Take(&reply);) {
    if (reply.stream < 0) continue;  // an event
    const auto stream = static_cast<size_t>(reply.stream);
    if (stream >= in_flight_) {
      return absl::InvalidArgumentError(client.server() + ": a reply on a stream without request");
    }
    const size_t slot = connection * in_flight_ + stream;
    --under_way_;
    ++replies_;
    if (latency != nullptr) {
      latency->Record(static_cast<uint64_t>(
          std::chrono::duration_cast<std::chrono::nanoseconds>(now - sent_at_[slot]).count()));
    }
    LS_RETURN_IF_ERROR(source.OnReply(slot, reply));
    if (ends_) continue;
    if (source.Next(slot, reply.stream, client.requests())) {
      sending_.push_back(reply.stream);
    } else {
      ends_ = true;
    }
  }
  return Send(connection);
}

absl::Status WireLoad::Run(WireSource& source, double seconds, Histogram* latency, WireRun* run) {
  ends_ = false;
  replies_ = 0;
  const Steady::time_point begin = Steady::now();
  const auto elapsed = [begin] {
    return std::chrono::duration<double>(Steady::now() - begin).count();
  };
  for (size_t i = 0; i < clients_.size(); ++i) {
    for (size_t stream = 0; stream < in_flight_ && !ends_; ++stream) {
      const auto number = static_cast<int16_t>(stream);
      ends_ = !source.Next(i * in_flight_ + stream, number, clients_[i]->requests());
      if (!ends_) sending_.push_back(number);
    }
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
