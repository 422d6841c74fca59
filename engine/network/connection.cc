#include "engine/network/connection.h"

#include <poll.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "engine/base/check.h"
#include "engine/base/loopback_congestion.h"

namespace liststore::network {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

// For a client that sent what its session does not understand: it may still be sending.
constexpr std::chrono::milliseconds kDrainTime(1000);
// When the server stops: within a second all is to be over.
constexpr std::chrono::milliseconds kStopDrainTime(100);
constexpr size_t kDrainedBytesMax = size_t{16} << 20;
// What arrived before the server stopped is answered, but a client that keeps sending is not
// listened to forever: 1 MiB.
constexpr int kLastReadsMax = 16;
// What a buffer may be larger than what it keeps for a client.
constexpr size_t kSpareBytesMax = size_t{64} << 10;

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
  Socket(asio::io_context& context, Descriptor accepted)
      : descriptor(std::move(accepted)), stream(context), timer(context) {}

  Descriptor descriptor;  // until the stream has it
  tcp::socket stream;
  asio::steady_timer timer;
};

Connection::Connection(LoopShare& share, uint64_t id, Descriptor socket, Admission::Ticket ticket,
                       std::unique_ptr<TlsChannel> tls)
    : share_(share),
      id_(id),
      ticket_(std::move(ticket)),
      socket_(std::make_unique<Socket>(share.loop.context(), std::move(socket))),
      tls_(std::move(tls)),
      begun_at_(share.now),
      heard_at_(share.now),
      taken_at_(share.now),
      drain_time_(kDrainTime) {}

Connection::~Connection() {
  LS_CHECK(WaitsForNothing(), "nothing calls a connection back that is gone");
  if (account_ && account_->bytes() != 0) share_.budget.Set(*account_, 0);
}

bool Connection::Start(SessionFactory& factory) {
  tcp::socket& stream = socket_->stream;
  error_code error;
  // The family does not matter for a socket that is connected already.
  stream.assign(tcp::v6(), socket_->descriptor.get(), error);
  if (error) return false;
  socket_->descriptor.Release();
  stream.non_blocking(true, error);
  if (error) return false;
  // Answers are written as a whole: waiting for more would only delay them.
  stream.set_option(tcp::no_delay(true), error);
  // A client whose machine is gone is noticed in the end.
  stream.set_option(asio::socket_base::keep_alive(true), error);
  UseLoopbackCongestion(stream.native_handle());
  const tcp::endpoint peer = stream.remote_endpoint(error);
  if (error) return false;  // it has gone already
  const tcp::endpoint local = stream.local_endpoint(error);
  if (error) return false;
  ClientAddress address = {
      .peer = BytesOf(peer.address()), .peer_port = peer.port(), .local = BytesOf(local.address())};
  account_.emplace(share_.loop.number(), address.peer, address.peer_port);
  session_ = ticket_.refusal().empty() ? factory.Make(*this, std::move(address))
                                       : factory.MakeRefusing(ticket_.refusal());
  if (session_ == nullptr) return false;
  WaitReadable();
  return true;
}

// --- What is waited for --------------------------------------------------------------------------
// Each is noted once it is waited for: the heap may refuse it. Nothing calls back before this loop's
// function returns.

void Connection::WaitReadable() {
  LS_DCHECK(!waits_to_read_ && !closed_, "one wait at a time");
  socket_->stream.async_wait(tcp::socket::wait_read, [this](const error_code& error) {
    waits_to_read_ = false;
    if (error) {
      Close();
    } else if (!closed_) {
      Guarded([this] { OnReadable(); });
    }
    EndCallback();
  });
  waits_to_read_ = true;
}

void Connection::WaitWritable() {
  LS_DCHECK(!waits_to_write_ && !closed_, "one wait at a time");
  socket_->stream.async_wait(tcp::socket::wait_write, [this](const error_code& error) {
    waits_to_write_ = false;
    if (error) {
      Close();
    } else if (!closed_) {
      Guarded([this] { OnWritable(); });
    }
    EndCallback();
  });
  waits_to_write_ = true;
}

void Connection::SetTimer(Instant at) {
  if (at == timer_at_) return;
  timer_at_ = at;
  if (waits_for_timer_) {
    socket_->timer.cancel();  // and is told to look again
  } else if (at != kNever) {
    WaitForTimer();
  }
}

void Connection::WaitForTimer() {
  LS_DCHECK(!waits_for_timer_ && !closed_, "one wait at a time");
  socket_->timer.expires_at(timer_at_);
  socket_->timer.async_wait([this](const error_code&) {
    waits_for_timer_ = false;
    if (!closed_ && timer_at_ != kNever) Guarded([this] { OnTimer(); });
    if (!closed_ && gate_number_ != 0 && !waits_for_timer_) Guarded([this] { WaitForTimer(); });
    EndCallback();
  });
  waits_for_timer_ = true;
}

void Connection::WaitForTurn() {
  if (waits_for_turn_) return;
  share_.loop.Post([this] {
    waits_for_turn_ = false;
    if (!closed_) Guarded([this] { TakeTurn(); });
    EndCallback();
  });
  waits_for_turn_ = true;
}

void Connection::WaitForHandshakeTurn() {
  if (waits_for_turn_) return;
  (tls_->has_begun() ? share_.handshakes.begun : share_.handshakes.fresh).push_back(id_);
  waits_for_turn_ = true;
  share_.go_on_with_handshakes();
}

bool Connection::TakeHandshakeTurn() {
  waits_for_turn_ = false;
  // Its hello is in the socket still, and would be signed for nobody.
  if (!closed_ && !tls_->has_begun() && HasHungUp()) {
    if (BytesInSocket() > 0) ++share_.counters.tls_handshakes_failed;
    Close();
  }
  const bool goes_on = !closed_;
  if (goes_on) Guarded([this] { TakeTurn(); });
  EndCallback();
  return goes_on;
}

void Connection::TakeTurn() {
  if (session_waits_for_ == Session::WaitsFor::kTurn && rest_.empty()) {
    AnswerLeftover();
  } else if (tls_ != nullptr && MayRead()) {
    ReadAndAnswer();
  }
  Arm();
}

template <typename Work>
void Connection::Guarded(Work&& work) {
  try {
    work();
  } catch (const std::bad_alloc&) {
    // What was answered so far is not known, and so nothing more can be said.
    share_.answers.Clear();
    share_.encrypted.Clear();
    ++share_.counters.ended_for_memory;
    Close();
  }
}

void Connection::Arm() {
  if (closed_) return;
  if (tls_ != nullptr && tls_->has_output() && rest_.empty()) Send(share_.answers);
  if (closed_) return;
  if (!rest_.empty()) {
    if (!waits_to_write_ && gate_number_ == 0) WaitWritable();
    return;
  }
  if (ends_ && !drains_) SayGoodbye();
  if (closed_ || waits_to_read_ || !(drains_ || MayRead())) return;
  if (!drains_ &&
      share_.budget.HoldsBack(leftover_.capacity(), std::max(bytes_missing_, size_t{1}))) {
    return WaitForRoom();
  }
  room_missed_at_ = kNever;
  // The socket need not have more.
  if (tls_ != nullptr && !drains_ && tls_->has_more()) return WaitForTurn();
  WaitReadable();
}

bool Connection::WaitsForNothing() const {
  return !waits_to_read_ && !waits_to_write_ && !waits_for_timer_ && !waits_for_turn_;
}

void Connection::EndCallback() {
  if (!closed_) Guarded([this] { Settle(); });
  if (closed_ && WaitsForNothing()) share_.remove(id_);
}

// --- Reading -------------------------------------------------------------------------------------

bool Connection::MayRead() const {
  return rest_.empty() && session_waits_for_ == Session::WaitsFor::kBytes && !ends_ && !stops_ &&
         !closed_;
}

void Connection::OnReadable() {
  if (drains_) {
    Drain();
  } else if (MayRead()) {
    // Its turn arms it.
    if (tls_ != nullptr && !tls_->has_shaken_hands()) return WaitForHandshakeTurn();
    ReadAndAnswer();
  }
  Arm();
}

bool Connection::IsEstablished() const {
  return session_->IsEstablished() && (tls_ == nullptr || tls_->has_shaken_hands());
}

size_t Connection::Receive(char* to, size_t bytes) {
  error_code error;
  const size_t read = socket_->stream.read_some(asio::buffer(to, bytes), error);
  if (error) {
    if (!WouldBlock(error)) Close();
    return 0;
  }
  heard_at_ = share_.now;
  NoteAge(read, bytes);
  return read;
}

size_t Connection::BytesInSocket() const {
  error_code error;
  const size_t bytes = socket_->stream.available(error);
  return error ? 0 : bytes;
}

bool Connection::HasHungUp() {
  pollfd look{.fd = socket_->stream.native_handle(), .events = POLLRDHUP, .revents = 0};
  return ::poll(&look, 1, 0) > 0 && (look.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

size_t Connection::Read(char* to, size_t bytes) {
  return tls_ == nullptr ? Receive(to, bytes) : ReadTls(to, bytes);
}

bool Connection::ReadAndAnswer() {
  const size_t held = leftover_.size();
  const size_t wanted = held + std::max(bytes_missing_, size_t{1});
  if (wanted > kReadBufferBytes) {
    if (wanted > share_.limits.input_bytes_max + kReadBufferBytes) Close();
    return !closed_ && ReadIntoLeftover();
  }
  char* const buffer = share_.read_buffer.get();
  if (held > 0) std::memcpy(buffer, leftover_.data(), held);
  const size_t bytes = Read(buffer + held, kReadBufferBytes - held);
  if (bytes == 0) return false;
  leftover_.Clear();
  const std::string_view received(buffer, held + bytes);
  leftover_.Append(received.substr(Answer(received)));
  if (leftover_.empty()) leftover_.ShrinkTo(0);
  return true;
}

bool Connection::ReadIntoLeftover() {
  const size_t held = leftover_.size();
  // Grows with what has come, not with what the request's header says.
  const size_t step_max = std::max(held, kReadBufferBytes);
  const size_t step = bytes_missing_ == 0 ? step_max : std::min(bytes_missing_, step_max);
  const size_t bytes = Read(leftover_.Extend(step), step);
  leftover_.Truncate(held + bytes);
  if (bytes == 0) return false;
  bytes_missing_ -= std::min(bytes, bytes_missing_);
  if (bytes_missing_ == 0) AnswerLeftover();
  return true;
}

void Connection::AnswerLeftover() {
  leftover_.DropFront(Answer(leftover_.view()));
  if (leftover_.empty()) leftover_.ShrinkTo(0);
}

size_t Connection::Answer(std::string_view received) {
  LS_DCHECK(rest_.empty() && !ends_, "nothing is answered while a rest waits");
  using WaitsFor = Session::WaitsFor;
  const SessionLimits& limits = share_.limits;
  Turn turn{share_.answers, limits};
  if (limits.turn_time != std::chrono::nanoseconds::max()) {
    turn.ends = std::chrono::steady_clock::now() + limits.turn_time;
  }
  if (!received.empty()) turn.waited = RefusedFor();
  turn.is_overloaded = turn.waited.count() > 0 || share_.budget.Refuses(account_->bytes());
  due_ = false;
  size_t dealt_with = 0;
  size_t answer_bytes = 0;
  do {
    const Session::Result result = session_->OnBytes(received.substr(dealt_with), turn);
    LS_CHECK(result.waits_for != WaitsFor::kTime || result.wakes_at != kNever,
             "a session that waits for a time says for which");
    session_waits_for_ = result.waits_for;
    bytes_missing_ = result.bytes_missing;
    session_bytes_ = result.held_bytes;
    owes_answers_ = result.owes_answers;
    dealt_with += result.consumed;
    if (result.waits_for == WaitsFor::kEnd) dealt_with = received.size();
    ends_ = result.waits_for == WaitsFor::kEnd || (stops_ && result.waits_for == WaitsFor::kBytes);
    SetTimer(ends_ ? kNever : result.wakes_at);
    answer_bytes += share_.answers.size();
    if (result.has_written && share_.gate != nullptr) EnterGate();
    Send(share_.answers);
    // A client that reads as fast as it is answered shares the loop with others all the same.
  } while (session_waits_for_ == WaitsFor::kTurn && rest_.empty() && !closed_ &&
           answer_bytes <= limits.output_bytes_max && !turn.TimeIsOver());
  if (session_waits_for_ == WaitsFor::kTurn && rest_.empty() && !closed_) WaitForTurn();
  return dealt_with;
}

void Connection::OnTimer() {
  if (std::chrono::steady_clock::now() < timer_at_) return WaitForTimer();
  timer_at_ = kNever;
  if (drains_) return Close();
  RestartAge();
  due_ = true;
  if (rest_.empty()) AnswerLeftover();
  Arm();
}

// --- Writing -------------------------------------------------------------------------------------

void Connection::EnterGate() {
  if (share_.answers.empty() || closed_) return;
  const uint64_t number = share_.gate->Enter(share_.loop.number());
  if (number == 0) return;
  if (!waits_for_timer_) {
    // The time never comes, but closing the connection cancels it.
    LS_DCHECK(timer_at_ == kNever, "a time that is set is waited for");
    WaitForTimer();
  }
  share_.at_gate.push_back({number, id_});
  ++share_.entered;
  gate_number_ = number;
}

void Connection::PassGate(uint64_t number, bool at_once) {
  if (gate_number_ != number) return;
  gate_number_ = 0;
  if (closed_) return EndCallback();
  taken_at_ = share_.now;
  Guarded([this, at_once] { SendRest(/*waited=*/!at_once); });
  EndCallback();
}

size_t Connection::Write(std::string_view bytes) {
  error_code error;
  const size_t written =
      socket_->stream.write_some(asio::buffer(bytes.data(), bytes.size()), error);
  if (error && !WouldBlock(error)) Close();
  return error ? 0 : written;
}

void Connection::Send(OutputBuffer& answers) {
  if (tls_ == nullptr) return SendBytes(answers);
  SendEncrypted(answers);
}

void Connection::SendBytes(OutputBuffer& out) {
  LS_DCHECK(rest_.empty(), "answers keep their order");
  if (!out.empty() && !closed_) {
    const size_t written = gate_number_ == 0 ? Write(out.view()) : 0;
    if (written < out.size() && !closed_) {
      std::swap(rest_, out);
      if (rest_.capacity() - rest_.size() > kSpareBytesMax) rest_.ShrinkTo(rest_.size());
      rest_sent_ = written;
      taken_at_ = share_.now;
    }
  }
  out.Clear();
  out.ShrinkTo(kOutKeptBytesMax);
}

void Connection::OnWritable() { SendRest(/*waited=*/true); }

void Connection::SendRest(bool waited) {
  if (!rest_.empty()) {
    const size_t written = Write(rest_.ViewFrom(rest_sent_));
    rest_sent_ += written;
    if (written > 0) taken_at_ = share_.now;
    if (rest_sent_ == rest_.size() && !closed_) {
      rest_.Clear();
      rest_.ShrinkTo(0);
      rest_sent_ = 0;
      pushed_bytes_ = 0;
      if (waited) RestartAge();
      const bool is_owed = due_ || stops_ || session_waits_for_ == Session::WaitsFor::kTurn;
      if (is_owed && !ends_) AnswerLeftover();
    }
  }
  Arm();
}

void Connection::Push(std::string_view bytes) {
  if (closed_ || ends_ || stops_) return;
  LS_DCHECK(share_.answers.empty(), "what a session answers is appended");
  Guarded([this, bytes] { SendPushed(bytes); });
}

void Connection::Disconnect() {
  if (closed_) return;
  ++share_.counters.ended_for_memory;
  Close();
}

void Connection::SendPushed(std::string_view bytes) {
  if (tls_ != nullptr && !EncryptPushed(bytes)) return;
  const size_t held = rest_.size();
  if (rest_.empty()) {
    rest_sent_ = 0;
    taken_at_ = share_.now;
    bytes.remove_prefix(Write(bytes));
  }
  if (!closed_) rest_.Append(bytes);
  share_.encrypted.Clear();
  pushed_bytes_ += rest_.size() - held;
  if (pushed_bytes_ > share_.limits.pushed_bytes_max) return Close();
  Arm();
}

void Connection::Wake() {
  if (closed_ || ends_) return;
  LS_DCHECK(share_.answers.empty(), "what a session answers is appended");
  due_ = true;
  if (session_waits_for_ == Session::WaitsFor::kTime) RestartAge();
  Guarded([this] {
    if (rest_.empty()) AnswerLeftover();
    Arm();
    if (!closed_) Settle();
  });
}

// --- Ending --------------------------------------------------------------------------------------

void Connection::Finish() {
  if (closed_ || ends_ || stops_) return;
  Guarded([this] { AnswerLast(); });
}

void Connection::AnswerLast() {
  // A handshake is not gone on with for the sake of goodbye.
  if (tls_ != nullptr && !tls_->has_shaken_hands()) return Close();
  drain_time_ = kStopDrainTime;
  for (int i = 0; i < kLastReadsMax && MayRead(); ++i) {
    if (!ReadAndAnswer()) break;
  }
  if (!closed_ && !ends_) {
    stops_ = true;
    session_->OnStop();
    if (rest_.empty()) AnswerLeftover();
  }
  Arm();
}

void Connection::SayGoodbye() {
  LS_DCHECK(rest_.empty() && !closed_, "all is written");
  drains_ = true;
  leftover_.Clear();
  leftover_.ShrinkTo(0);
  if (tls_ != nullptr) {
    SayEndOfTls();
    if (closed_) return;
  }
  error_code error;
  socket_->stream.shutdown(tcp::socket::shutdown_send, error);
  if (error) {  // the client has gone
    Close();
    return;
  }
  SetTimer(std::chrono::steady_clock::now() + drain_time_);
}

void Connection::Drain() {
  drained_bytes_ += Receive(share_.read_buffer.get(), kReadBufferBytes);
  if (drained_bytes_ > kDrainedBytesMax) Close();
}

void Connection::Abort() { Close(); }

void Connection::Close() {
  if (closed_) return;
  closed_ = true;
  error_code ignored;
  socket_->stream.close(ignored);
  if (waits_for_timer_) socket_->timer.cancel();
}

}  // namespace liststore::network
