// What a connection does when a channel of TLS stands between its socket and its session.
#include <memory>
#include <optional>
#include <string_view>

#include "engine/base/check.h"
#include "engine/network/connection.h"
#include "engine/network/tls.h"

namespace liststore::network {

std::optional<TlsFacts> Connection::tls() const {
  if (tls_ == nullptr) return std::nullopt;
  return tls_->facts();
}

size_t Connection::ReadTls(char* to, size_t bytes) {
  const bool had_shaken_hands = tls_->has_shaken_hands();
  size_t read = 0;
  if (tls_->has_more()) read = tls_->Decrypt({}, to, bytes);
  if (read == 0 && !tls_->is_over()) {
    if (share_.received == nullptr) {
      share_.received = std::make_unique_for_overwrite<char[]>(kReadBufferBytes);
    }
    const size_t received = Receive(share_.received.get(), kReadBufferBytes);
    if (received > 0) read = tls_->Decrypt({share_.received.get(), received}, to, bytes);
  }
  if (!had_shaken_hands && tls_->has_shaken_hands()) ++share_.counters.tls_handshakes;
  if (read == 0 && (closed_ || tls_->is_over())) NoteEndOfTls();
  return read;
}

void Connection::NoteEndOfTls() {
  // Who comes and goes without a word has not tried.
  if (!tls_->has_shaken_hands() && tls_->has_begun()) ++share_.counters.tls_handshakes_failed;
  if (closed_) return;
  if (tls_->state() == TlsChannel::State::kFailed && tls_->has_output()) {
    ends_ = true;  // with an alert, which says why
    return;
  }
  if (tls_->state() == TlsChannel::State::kEnded) SayEndOfTls();
  Close();
}

void Connection::SayEndOfTls() {
  LS_DCHECK(rest_.empty() && share_.encrypted.empty(), "it comes last");
  tls_->Finish(share_.encrypted);
  // Some bytes: when the socket does not take them, the client sees that it is closed.
  if (!share_.encrypted.empty()) Write(share_.encrypted.view());
  share_.encrypted.Clear();
}

void Connection::SendEncrypted(OutputBuffer& answers) {
  LS_DCHECK(share_.encrypted.empty(), "every turn sends what it has");
  if (!closed_ && !tls_->Encrypt(answers.view(), share_.encrypted)) Close();
  answers.Clear();
  answers.ShrinkTo(kOutKeptBytesMax);
  SendBytes(share_.encrypted);
}

bool Connection::EncryptPushed(std::string_view& bytes) {
  LS_DCHECK(share_.encrypted.empty(), "every turn sends what it has");
  if (!tls_->Encrypt(bytes, share_.encrypted)) {
    share_.encrypted.Clear();
    Close();
    return false;
  }
  bytes = share_.encrypted.view();
  return true;
}

}  // namespace liststore::network
