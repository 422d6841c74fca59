#include "engine/faces/cql/connection_group.h"

#include <unistd.h>

#include <utility>

#include "engine/base/check.h"

namespace liststore {

ConnectionGroup::ConnectionGroup(EventLoop& loop, const ServerContext& server)
    : loop_(loop),
      server_(server),
      dispatcher_(server),
      read_buffer_(std::make_unique_for_overwrite<char[]>(Connection::kReadBufferBytes)) {}

ConnectionGroup::~ConnectionGroup() {
  LS_CHECK(connections_.empty(), "connections end before their group");
}

void ConnectionGroup::Adopt(int fd) {
  loop_.Post([this, fd] { Add(fd); });
}

void ConnectionGroup::Add(int fd) {
  if (stopping_) {
    ::close(fd);
    return;
  }
  const uint64_t id = next_id_++;
  auto connection = std::make_unique<Connection>(*this, id, fd, loop_.number());
  if (!connection->Start()) return;
  connections_.emplace(id, std::move(connection));
  NoteCount();
}

void ConnectionGroup::List(uint64_t id, const ClientState& client) {
  if (server_.clients != nullptr) server_.clients->Put({loop_.number(), id}, client);
}

void ConnectionGroup::Remove(uint64_t id) {
  LS_DCHECK(loop_.IsCurrent(), "connections are used on their loop");
  if (server_.clients != nullptr) server_.clients->Remove({loop_.number(), id});
  const size_t removed = connections_.erase(id);
  LS_CHECK(removed == 1, "a connection is removed once");
  NoteCount();
}

void ConnectionGroup::NoteCount() {
  MutexLock lock(mutex_);
  connection_count_ = connections_.size();
  empty_and_stopping_ = stopping_ && connections_.empty();
  if (empty_and_stopping_) changed_.notify_all();
}

void ConnectionGroup::Push(const PushedEvent& event) {
  loop_.Post([this, event] {
    for (auto& [id, connection] : connections_) connection->Push(event);
  });
}

void ConnectionGroup::BeginStop() {
  loop_.Post([this] {
    stopping_ = true;
    for (auto& [id, connection] : connections_) connection->Finish();
    NoteCount();
  });
}

void ConnectionGroup::AbortAll() {
  loop_.Post([this] {
    for (auto& [id, connection] : connections_) connection->Abort();
  });
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

}  // namespace liststore
