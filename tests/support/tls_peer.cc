#include "tests/support/tls_peer.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "engine/base/big_endian.h"
#include "engine/base/check.h"

namespace liststore::testing {
namespace {

int VersionOf(const std::string& text) {
  if (text == "1.1") return TLS1_1_VERSION;
  LS_CHECK(text == "1.2" || text == "1.3", "a test names a version that there is");
  return text == "1.2" ? TLS1_2_VERSION : TLS1_3_VERSION;
}

BIO* MemoryOf(const std::string& text) {
  return BIO_new_mem_buf(text.data(), static_cast<int>(text.size()));
}

void UseOwn(SSL_CTX* context, const TestCertificate& own) {
  BIO* bio = MemoryOf(own.certificate);
  X509* const certificate = PEM_read_bio_X509(bio, nullptr, nullptr, nullptr);
  LS_CHECK(SSL_CTX_use_certificate(context, certificate) == 1, "a test gives a certificate");
  while (X509* const next = PEM_read_bio_X509(bio, nullptr, nullptr, nullptr)) {
    SSL_CTX_add0_chain_cert(context, next);
  }
  X509_free(certificate);
  BIO_free(bio);
  bio = MemoryOf(own.key);
  EVP_PKEY* const key = PEM_read_bio_PrivateKey(bio, nullptr, nullptr, nullptr);
  LS_CHECK(SSL_CTX_use_PrivateKey(context, key) == 1, "a test gives its key");
  EVP_PKEY_free(key);
  BIO_free(bio);
  ERR_clear_error();
}

void UseCa(SSL_CTX* context, const std::string& ca) {
  BIO* const bio = MemoryOf(ca);
  X509* const certificate = PEM_read_bio_X509(bio, nullptr, nullptr, nullptr);
  LS_CHECK(X509_STORE_add_cert(SSL_CTX_get_cert_store(context), certificate) == 1,
           "a test gives an authority");
  X509_free(certificate);
  BIO_free(bio);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
}

}  // namespace

struct TlsPeer::Ssl {
  SSL_CTX* context = nullptr;
  SSL* ssl = nullptr;
  SSL_SESSION* session = nullptr;  // the latest that the server gave
};

TlsPeer::TlsPeer(const TlsPeerOptions& options) : ssl_(std::make_unique<Ssl>()) {
  SSL_CTX* const context = SSL_CTX_new(TLS_client_method());
  ssl_->context = context;
  // Security level 0: TLS 1.1 is offered where a test wants it.
  if (options.min_version == "1.1") SSL_CTX_set_security_level(context, 0);
  SSL_CTX_set_min_proto_version(context, VersionOf(options.min_version));
  SSL_CTX_set_max_proto_version(context, VersionOf(options.max_version));
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
  if (!options.ciphers.empty()) {
    LS_CHECK(SSL_CTX_set_cipher_list(context, options.ciphers.c_str()) == 1, "there are such");
  }
  if (!options.own.certificate.empty()) UseOwn(context, options.own);
  if (!options.ca.empty()) UseCa(context, options.ca);
  ssl_->ssl = SSL_new(context);
  SSL_CTX_set_app_data(context, ssl_.get());
  SSL_CTX_sess_set_new_cb(context, [](SSL* ssl, SSL_SESSION* session) {
    auto* const own = static_cast<Ssl*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl)));
    SSL_SESSION_free(own->session);
    own->session = session;
    return 1;
  });
  if (!options.ca.empty() && !options.host.empty()) {
    LS_CHECK(SSL_set1_host(ssl_->ssl, options.host.c_str()) == 1, "a test names a host");
  }
  SSL_set_bio(ssl_->ssl, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
  SSL_set_connect_state(ssl_->ssl);
}

TlsPeer::~TlsPeer() {
  SSL_free(ssl_->ssl);
  SSL_SESSION_free(ssl_->session);
  SSL_CTX_free(ssl_->context);
}

std::string TlsPeer::Take() {
  char* bytes = nullptr;
  BIO* const bio = SSL_get_wbio(ssl_->ssl);
  std::string taken(static_cast<size_t>(BIO_get_mem_data(bio, &bytes)), '\0');
  if (!taken.empty()) BIO_read(bio, taken.data(), static_cast<int>(taken.size()));
  return taken;
}

void TlsPeer::Give(std::string_view bytes) {
  if (bytes.empty()) return;
  BIO_write(SSL_get_rbio(ssl_->ssl), bytes.data(), static_cast<int>(bytes.size()));
}

bool TlsPeer::Note(int result) {
  if (result == 1) return true;
  const int kind = SSL_get_error(ssl_->ssl, result);
  if (kind != SSL_ERROR_WANT_READ && kind != SSL_ERROR_ZERO_RETURN && error_.empty()) {
    const char* const reason = ERR_reason_error_string(ERR_peek_last_error());
    error_ = reason == nullptr ? "failed" : reason;
  }
  ERR_clear_error();
  return false;
}

bool TlsPeer::Shake() {
  ERR_clear_error();
  return Note(SSL_do_handshake(ssl_->ssl));
}

void TlsPeer::Write(std::string_view text) {
  size_t written = 0;
  ERR_clear_error();
  if (!text.empty()) Note(SSL_write_ex(ssl_->ssl, text.data(), text.size(), &written));
}

std::string TlsPeer::Read() {
  std::string text;
  char bytes[16 << 10];
  size_t count = 0;
  ERR_clear_error();
  while (Note(SSL_read_ex(ssl_->ssl, bytes, sizeof(bytes), &count))) text.append(bytes, count);
  return text;
}

void TlsPeer::SayEnd() { SSL_shutdown(ssl_->ssl); }

void TlsPeer::AskForNewKeys() {
  if (SSL_version(ssl_->ssl) == TLS1_3_VERSION) {
    SSL_key_update(ssl_->ssl, SSL_KEY_UPDATE_REQUESTED);
  } else {
    SSL_renegotiate(ssl_->ssl);
  }
  Shake();
}

bool TlsPeer::has_ended() const {
  return (SSL_get_shutdown(ssl_->ssl) & SSL_RECEIVED_SHUTDOWN) != 0;
}
std::string TlsPeer::protocol() const { return SSL_get_version(ssl_->ssl); }
std::string TlsPeer::cipher() const { return SSL_get_cipher_name(ssl_->ssl); }

std::string TlsPeer::server_name() const {
  X509* const certificate = SSL_get0_peer_certificate(ssl_->ssl);
  if (certificate == nullptr) return "";
  char name[256] = "";
  X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, name, sizeof(name));
  return name;
}

bool TlsPeer::has_resumed() const { return SSL_session_reused(ssl_->ssl) == 1; }

void TlsPeer::Resume(const TlsPeer& other) {
  LS_CHECK(other.ssl_->session != nullptr, "the server gave a ticket");
  LS_CHECK(SSL_set_session(ssl_->ssl, other.ssl_->session) == 1, "a session can be resumed");
}

RawTlsClient::RawTlsClient(uint16_t port, const TlsPeerOptions& options, uint16_t source_port,
                           const TlsPeer* resumed, int receive_buffer_bytes)
    : peer_(std::make_unique<TlsPeer>(options)),
      socket_(port, "127.0.0.1", source_port, receive_buffer_bytes) {
  if (resumed != nullptr) peer_->Resume(*resumed);
  while (!(is_open_ = peer_->Shake()) && peer_->error().empty()) {
    if (!socket_.Send(peer_->Take()) || !Receive()) return;
  }
  socket_.Send(peer_->Take());
}

bool RawTlsClient::Receive() {
  const auto bytes = socket_.ReadSome();
  if (bytes) peer_->Give(*bytes);
  return bytes.has_value();
}

bool RawTlsClient::Send(std::string_view text) {
  peer_->Write(text);
  return socket_.Send(peer_->Take());
}

std::optional<std::string> RawTlsClient::ReadBytes(size_t bytes) {
  while (true) {
    read_ += peer_->Read();
    if (read_.size() >= bytes) break;
    if (!peer_->error().empty() || peer_->has_ended() || !Receive()) return std::nullopt;
  }
  std::string text = read_.substr(0, bytes);
  read_.erase(0, bytes);
  return text;
}

std::string RawTlsClient::ReadAll() {
  do {
    read_ += peer_->Read();
  } while (peer_->error().empty() && !peer_->has_ended() && Receive());
  return std::move(read_);
}

std::optional<RawFrame> RawTlsClient::Read() {
  const auto header = ReadBytes(9);
  if (!header) return std::nullopt;
  RawFrame frame;
  frame.version = static_cast<uint8_t>((*header)[0]);
  frame.flags = static_cast<uint8_t>((*header)[1]);
  frame.stream = static_cast<int16_t>(LoadBigEndian16(header->data() + 2));
  frame.opcode = static_cast<uint8_t>((*header)[4]);
  auto body = ReadBytes(LoadBigEndian32(header->data() + 5));
  if (!body) return std::nullopt;
  frame.body = *std::move(body);
  return frame;
}

std::optional<RawFrame> RawTlsClient::Ask(const RawFrame& frame) {
  if (!Send(frame)) return std::nullopt;
  return Read();
}

bool RawTlsClient::StartUp() {
  const auto answer = Ask({.opcode = 0x01, .body = StartupBody()});
  return answer && answer->opcode == 0x02;
}

std::optional<RawFrame> RawTlsClient::Query(std::string_view text) {
  return Ask({.stream = 1, .opcode = 0x07, .body = QueryBody(text)});
}

}  // namespace liststore::testing
