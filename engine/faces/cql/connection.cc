#include "engine/faces/cql/connection.h"

#include <unistd.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstring>
#include <map>
#include <string>
#include <utility>

#include "engine/base/check.h"
#include "engine/faces/cql/connection_group.h"
#include "engine/faces/cql/session.h"
#include "engine/runtime/event_loop.h"

namespace liststore {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

// For a client that sent what is no CQL: it may still be sending.
constexpr std::chrono::milliseconds kDrainTime(1000);
// When the server stops: within a second all is to be over.
constexpr std::chrono::milliseconds kStopDrainTime(100);
constexpr size_t kDrainedBytesMax = size_t{16} << 20;
// What arrived before the server stopped is answered, but a client that keeps sending is not
// listened to for ever: 1 MiB.
constexpr int kLastReadsMax = 16;

bool WouldBlock(const error_code& error) {
  return error == asio::error::would_block || error == asio::error::try_again;
}

// 4 or 16 bytes; IPv4 mapped into IPv6 is IPv4.
std::string BytesOf(asio::ip::address address) {
  if (address.is_v6() && address.to_v6().is_v4_mapped()) {
    address = asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6());
  }
  if (address.is_v4()) {
    const auto bytes = address.to_v4().to_bytes();
    return std::string(bytes.begin(), bytes.end());
  }
  const auto bytes = address.to_v6().to_bytes();
  return std::string(bytes.begin(), bytes.end());
}

}  // namespace

struct Connection::Socket {
  Socket(asio::io_context& context, int fd_in) : fd(fd_in), stream(context), timer(context) {}

  const int fd;
  tcp::socket stream;
  asio::steady_timer timer;
};

struct Connection::DelayedAnswers {
  using Instant = std::chrono::steady_clock::time_point;

  explicit DelayedAnswers(asio::io_context& context) : timer(context) {}

  asio::steady_timer timer;
  bool waits = false;
  // By their time; those of the same time in the order they came in.
  std::multimap<Instant, std::string> answers;
};

Connection::Connection(ConnectionGroup& group, uint64_t id, int fd, uint32_t shard)
    : group_(group),
      id_(id),
      socket_(std::make_unique<Socket>(group.loop().context(), fd)),
      state_(group.server().body_bytes_max),
      drain_time_(kDrainTime) {
  state_.client.shard = shard;
}

Connection::~Connection() {
  LS_CHECK(WaitsForNothing(), "nothing calls a connection back that is gone");
}

bool Connection::Start() {
  tcp::socket& stream = socket_->stream;
  error_code error;
  // The family does not matter for a socket that is connected already.
  stream.assign(tcp::v6(), socket_->fd, error);
  if (error) {
    ::close(socket_->fd);
    return false;
  }
  stream.non_blocking(true, error);
  if (error) return false;
  // Answers are written as a whole: waiting for more would only delay them.
  stream.set_option(tcp::no_delay(true), error);
  // A client whose machine is gone is noticed in the end.
  stream.set_option(asio::socket_base::keep_alive(true), error);
  const tcp::endpoint peer = stream.remote_endpoint(error);
  if (error) return false;  // it has gone already
  const tcp::endpoint local = stream.local_endpoint(error);
  if (error) return false;
  state_.client.peer_address = BytesOf(peer.address());
  state_.client.peer_port = peer.port();
  state_.client.local_address = BytesOf(local.address());
  WaitReadable();
  return true;
}

// --- What is waited for --------------------------------------------------------------------------

void Connection::WaitReadable() {
  LS_DCHECK(!waits_to_read_ && !closed_, "one wait at a time");
  waits_to_read_ = true;
  socket_->stream.async_wait(tcp::socket::wait_read, [this](const error_code& error) {
    waits_to_read_ = false;
    if (error) {
      Close();
    } else if (!closed_) {
      OnReadable();
    }
    Settle();
  });
}

void Connection::WaitWritable() {
  LS_DCHECK(!waits_to_write_ && !closed_, "one wait at a time");
  waits_to_write_ = true;
  socket_->stream.async_wait(tcp::socket::wait_write, [this](const error_code& error) {
    waits_to_write_ = false;
    if (error) {
      Close();
    } else if (!closed_) {
      OnWritable();
    }
    Settle();
  });
}

void Connection::Arm() {
  if (closed_) return;
  if (!rest_.empty()) {
    if (!waits_to_write_) WaitWritable();
    return;
  }
  if (ends_ && !drains_) SayGoodbye();
  if (!closed_ && !waits_to_read_) WaitReadable();
}

void Connection::Settle() {
  if (closed_ && WaitsForNothing()) group_.Remove(id_);
}

// --- Reading -------------------------------------------------------------------------------------

void Connection::OnReadable() {
  if (drains_) {
    Drain();
  } else if (rest_.empty() && !ends_) {
    ReadAndAnswer();
  }
  Arm();
}

bool Connection::ReadAndAnswer() {
  const size_t held = leftover_.size();
  if (held + bytes_missing_ > kReadBufferBytes) return ReadIntoLeftover();
  char* const buffer = group_.read_buffer();
  if (held > 0) std::memcpy(buffer, leftover_.data(), held);
  error_code error;
  const size_t bytes =
      socket_->stream.read_some(asio::buffer(buffer + held, kReadBufferBytes - held), error);
  if (WouldBlock(error)) return false;
  if (error) {
    Close();
    return false;
  }
  leftover_.Clear();
  const std::string_view received(buffer, held + bytes);
  leftover_.Append(received.substr(Answer(received)));
  if (leftover_.empty()) leftover_.ShrinkTo(0);
  return true;
}

bool Connection::ReadIntoLeftover() {
  const size_t held = leftover_.size();
  // Grows with what has come, not with what the frame's header says.
  const size_t step = std::min(bytes_missing_, std::max(held, kReadBufferBytes));
  char* const to = leftover_.Extend(step);
  error_code error;
  const size_t bytes = socket_->stream.read_some(asio::buffer(to, step), error);
  leftover_.Truncate(held + bytes);
  if (WouldBlock(error)) return false;
  if (error) {
    Close();
    return false;
  }
  bytes_missing_ -= bytes;
  if (bytes_missing_ == 0) AnswerLeftover();
  return true;
}

void Connection::AnswerLeftover() {
  leftover_.DropFront(Answer(leftover_.view()));
  if (leftover_.empty()) leftover_.ShrinkTo(0);
}

size_t Connection::Answer(std::string_view received) {
  LS_DCHECK(rest_.empty(), "nothing is answered while a rest waits");
  size_t dealt_with = 0;
  do {
    const protocol::ConnectionPhase phase = state_.phase;
    Dispatcher::Result result =
        group_.dispatcher().Dispatch(received.substr(dealt_with), state_, group_.out());
    dealt_with += result.consumed;
    bytes_missing_ = result.bytes_missing;
    unanswered_ = result.more_waits;
    if (!result.delayed.empty()) Delay(std::move(result.delayed));
    if (result.close) {
      ends_ = true;
      if (delayed_ != nullptr) delayed_->answers.clear();
      dealt_with = received.size();
    }
    // Before the client can know.
    if (state_.phase != phase) group_.List(id_, state_.client);
    Send(group_.out());
  } while (unanswered_ && rest_.empty() && !closed_);
  return dealt_with;
}

// --- Writing -------------------------------------------------------------------------------------

size_t Connection::Write(std::string_view bytes) {
  error_code error;
  const size_t written =
      socket_->stream.write_some(asio::buffer(bytes.data(), bytes.size()), error);
  if (error && !WouldBlock(error)) Close();
  return error ? 0 : written;
}

void Connection::Send(OutputBuffer& out) {
  LS_DCHECK(rest_.empty(), "answers keep their order");
  if (!out.empty() && !closed_) {
    const size_t written = Write(out.view());
    if (written < out.size() && !closed_) {
      std::swap(rest_, out);
      rest_sent_ = written;
    }
  }
  out.Clear();
  out.ShrinkTo(kOutKeptBytesMax);
}

void Connection::OnWritable() {
  if (!rest_.empty()) {
    rest_sent_ += Write(rest_.ViewFrom(rest_sent_));
    if (rest_sent_ == rest_.size() && !closed_) {
      rest_.Clear();
      rest_.ShrinkTo(0);
      rest_sent_ = 0;
      pushed_bytes_ = 0;
      if (unanswered_) AnswerLeftover();
    }
  }
  Arm();
}

void Connection::Push(const PushedEvent& event) {
  if ((state_.registered & BitOf(event.type)) == 0 || closed_ || ends_) return;
  const std::string_view frame = event.FrameFor(state_.client.protocol_version);
  const size_t held = rest_.size();
  SendBehindRest(frame);
  pushed_bytes_ += rest_.size() - held;
  if (pushed_bytes_ > kPushedBytesMax) return Abort();
  Arm();
}

// --- Answers that go out later -------------------------------------------------------------------

bool Connection::WaitsForNothing() const {
  return !waits_to_read_ && !waits_to_write_ && !waits_for_timer_ &&
         (delayed_ == nullptr || !delayed_->waits);
}

void Connection::Delay(std::vector<DelayedAnswer> answers) {
  if (closed_) return;
  if (delayed_ == nullptr) {
    delayed_ = std::make_unique<DelayedAnswers>(group_.loop().context());
  }
  const auto now = std::chrono::steady_clock::now();
  for (DelayedAnswer& answer : answers) {
    delayed_->answers.emplace(now + answer.delay, std::move(answer.frames));
  }
  // A wait that is under way may be for a later one: it is told to look again.
  if (delayed_->waits) {
    delayed_->timer.cancel();
  } else {
    WaitForDelayed();
  }
}

void Connection::WaitForDelayed() {
  LS_DCHECK(!delayed_->waits && !closed_, "one wait at a time");
  if (delayed_->answers.empty()) return;
  delayed_->waits = true;
  delayed_->timer.expires_at(delayed_->answers.begin()->first);
  delayed_->timer.async_wait([this](const error_code&) {
    delayed_->waits = false;
    if (!closed_) {
      SendDelayed();
      if (!closed_) WaitForDelayed();
      Arm();
    }
    Settle();
  });
}

void Connection::SendDelayed() {
  const auto now = std::chrono::steady_clock::now();
  auto& answers = delayed_->answers;
  while (!answers.empty() && !closed_ && (ends_ || answers.begin()->first <= now)) {
    SendBehindRest(answers.begin()->second);
    answers.erase(answers.begin());
  }
}

void Connection::SendBehindRest(std::string_view bytes) {
  if (rest_.empty()) {
    rest_sent_ = 0;
    bytes.remove_prefix(Write(bytes));
  }
  if (!closed_) rest_.Append(bytes);
}

// --- Ending --------------------------------------------------------------------------------------

void Connection::Finish() {
  if (closed_ || ends_) return;
  drain_time_ = kStopDrainTime;
  for (int i = 0; i < kLastReadsMax && rest_.empty() && !closed_ && !ends_; ++i) {
    if (!ReadAndAnswer()) break;
  }
  ends_ = true;
  if (delayed_ != nullptr && !closed_) SendDelayed();
  Arm();
}

void Connection::SayGoodbye() {
  LS_DCHECK(rest_.empty() && !closed_, "all is written");
  drains_ = true;
  leftover_.Clear();
  leftover_.ShrinkTo(0);
  error_code error;
  socket_->stream.shutdown(tcp::socket::shutdown_send, error);
  if (error) {  // the client has gone
    Close();
    return;
  }
  waits_for_timer_ = true;
  socket_->timer.expires_after(drain_time_);
  socket_->timer.async_wait([this](const error_code&) {
    waits_for_timer_ = false;
    Close();
    Settle();
  });
}

void Connection::Drain() {
  error_code error;
  const size_t bytes =
      socket_->stream.read_some(asio::buffer(group_.read_buffer(), kReadBufferBytes), error);
  drained_bytes_ += bytes;
  if (drained_bytes_ > kDrainedBytesMax || (error && !WouldBlock(error))) Close();
}

void Connection::Abort() { Close(); }

void Connection::Close() {
  if (closed_) return;
  closed_ = true;
  error_code ignored;
  socket_->stream.close(ignored);
  if (waits_for_timer_) socket_->timer.cancel();
  if (delayed_ != nullptr) {
    delayed_->answers.clear();
    delayed_->timer.cancel();
  }
}

}  // namespace liststore
