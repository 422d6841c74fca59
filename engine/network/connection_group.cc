#include "engine/network/connection_group.h"

#include <utility>

#include "absl/cleanup/cleanup.h"
#include "engine/base/check.h"

namespace liststore::network {

ConnectionGroup::ConnectionGroup(runtime::EventLoop& loop, const Shared& shared)
    : shared_(shared),
      share_{.loop = loop,
             .limits = shared.limits,
             .budget = shared.budget,
             .counters = shared.counters,
             .now = shared.now(),
             .clock = shared.now,
             .read_buffer = std::make_unique_for_overwrite<char[]>(Connection::kReadBufferBytes),
             .answers = {},
             .received = nullptr,
             .encrypted = {},
             .gate = shared.gate,
             .go_on_with_handshakes = [this] { shake_hands_.Ask(); },
             .remove = [this](uint64_t id) { Remove(id); },
             .make_room = shared.make_room},
      next_check_(share_.now + kCheckTime),
      pass_gate_(loop, [this] { PassGate(kNoRound); }),
      begin_round_(loop, [] {}),
      shake_hands_(loop, [this] { ShakeHands(); }),
      check_times_(loop, [this] { CheckTimesNow(shared_.now()); }),
      end_condemned_(loop,
                     [this] {
                       for (auto& [id, connection] : connections_) connection->EndIfCondemned();
                     }),
      begin_stop_(loop, [this] { FinishAll(); }),
      abort_all_(loop, [this] {
        for (auto& [id, connection] : connections_) connection->Abort();
      }) {
  NoteTick(share_.now);
  if (shared.gate == nullptr) return;
  shared.gate->TellOfPassing(loop.number(), [this] { pass_gate_.Ask(); });
  loop.SetBetween([this](bool round_is_over) { EndTurn(round_is_over); });
}

ConnectionGroup::~ConnectionGroup() {
  LS_CHECK(connections_.empty(), "connections end before their group");
}

void ConnectionGroup::Adopt(Descriptor socket, SessionFactory& face, const TlsAcceptor* tls,
                            Admission::Ticket ticket) {
  share_.loop.Post(
      [this, socket = std::move(socket), &face, tls, ticket = std::move(ticket)]() mutable {
        Add(std::move(socket), face, tls, std::move(ticket));
      });
}

void ConnectionGroup::Add(Descriptor socket, SessionFactory& face, const TlsAcceptor* tls,
                          Admission::Ticket ticket) {
  if (stopping_) return;
  const uint64_t id = next_id_++;
  auto& connection = connections_[id];
  // Where the heap refuses, or the socket is of no use.
  absl::Cleanup drop = [&] { connections_.erase(id); };
  connection = std::make_unique<Connection>(share_, id, std::move(socket), std::move(ticket),
                                            tls == nullptr ? nullptr : tls->MakeChannel());
  if (!connection->Start(face)) return;
  std::move(drop).Cancel();
  NoteCount();
}

void ConnectionGroup::Tick() {
  const Instant now = shared_.now();
  share_.now = now;
  NoteTick(now);
  if (now >= next_check_) CheckTimesNow(now);
}

void ConnectionGroup::CheckTimesNow(Instant now) {
  share_.now = now;
  next_check_ = now + kCheckTime;
  // What ends is removed later, when what it waits for has called it back.
  for (auto& [id, connection] : connections_) connection->CheckTimes();
}

void ConnectionGroup::Remove(uint64_t id) {
  LS_DCHECK(share_.loop.IsCurrent(), "connections are used on their loop");
  const size_t removed = connections_.erase(id);
  LS_CHECK(removed == 1, "a connection is removed once");
  NoteCount();
}

void ConnectionGroup::EndTurn(bool round_is_over) {
  if (share_.entered == 0) return;
  if (!round_is_over && share_.entered < kEntriesMax) {
    const Instant now = shared_.now();
    if (!std::exchange(round_is_open_, true)) round_began_ = now;
    if (now - round_began_ < kRoundTimeMax) return;
  }
  // Where the heap refuses it, and where somebody was answered what it had sent meanwhile: the loop does not
  // sleep before that has left.
  const absl::Cleanup go_on = [&] {
    if (share_.entered > 0) begin_round_.Ask();
  };
  const uint64_t round = share_.at_gate.back().number;
  share_.gate->CloseRound(share_.loop.number());
  share_.entered = 0;
  round_is_open_ = false;
  PassGate(round);
}

void ConnectionGroup::PassGate(uint64_t closed_now) {
  std::deque<LoopShare::AtGate>& waiting = share_.at_gate;
  const uint64_t passed = share_.gate->Passed(share_.loop.number());
  // Who goes on may come back, with a number that has not passed.
  while (!waiting.empty() && waiting.front().number <= passed) {
    const LoopShare::AtGate next = waiting.front();
    waiting.pop_front();
    const auto at = connections_.find(next.id);
    if (at != connections_.end()) at->second->PassGate(next.number, next.number == closed_now);
  }
}

void ConnectionGroup::ShakeHands() {
  LoopShare::Handshakes& waiting = share_.handshakes;
  // Where the heap refuses something, be it to the end of the round, the others go on all the same: nobody else asks
  // for those that wait. Behind what is ready now.
  const absl::Cleanup go_on = [&] {
    if (!waiting.fresh.empty() || !waiting.begun.empty()) shake_hands_.Ask();
  };
  // Answers that are ready do not wait for it.
  EndTurn(/*round_is_over=*/true);
  for (std::deque<uint64_t>* queue : {&waiting.begun, &waiting.fresh}) {
    bool is_done = false;
    while (!queue->empty() && !is_done) {
      const auto at = connections_.find(queue->front());
      queue->pop_front();
      is_done = at != connections_.end() && at->second->TakeHandshakeTurn();
    }
  }
}

void ConnectionGroup::NoteCount() {
  MutexLock lock(mutex_);
  connection_count_ = connections_.size();
  empty_and_stopping_ = stopping_ && connections_.empty();
  if (empty_and_stopping_) changed_.notify_all();
}

void ConnectionGroup::FinishAll() {
  stopping_ = true;
  for (auto& [id, connection] : connections_) connection->Finish();
  NoteCount();
}

bool ConnectionGroup::WaitUntilEmpty(std::chrono::milliseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  MutexLock lock(mutex_);
  while (!empty_and_stopping_) {
    if (changed_.wait_until(mutex_, deadline) == std::cv_status::timeout) {
      return empty_and_stopping_;
    }
  }
  return true;
}

size_t ConnectionGroup::connection_count() const {
  MutexLock lock(mutex_);
  return connection_count_;
}

}  // namespace liststore::network
