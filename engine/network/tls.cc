#include "engine/network/tls.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "engine/base/check.h"
#include "engine/base/status_macros.h"

namespace liststore::network {
namespace {

// A file of certificates that is longer is none.
constexpr size_t kPemBytesMax = size_t{4} << 20;
// What a record's type has to be with which a client begins.
constexpr char kHandshakeRecord = 22;
// The header, the explicit nonce or the padding, and the tag of a record; what a record holds.
constexpr size_t kRecordOverheadMax = 64;
constexpr size_t kRecordBytesMax = size_t{16} << 10;
// Of an SSL with what belongs to it, in OpenSSL 3.0 on x86-64: TlsChannel.TakesAboutWhatItSays
// measures it.
constexpr size_t kHandshakeBytes = size_t{64} << 10;
constexpr size_t kOpenBytes = size_t{20} << 10;

template <auto function>
struct FreeBy {
  template <typename T>
  void operator()(T* object) const {
    function(object);
  }
};
using ContextPtr = std::unique_ptr<SSL_CTX, FreeBy<SSL_CTX_free>>;
using SslPtr = std::unique_ptr<SSL, FreeBy<SSL_free>>;
using BioPtr = std::unique_ptr<BIO, FreeBy<BIO_free>>;
using BioMethodPtr = std::unique_ptr<BIO_METHOD, FreeBy<BIO_meth_free>>;
using CertificatePtr = std::unique_ptr<X509, FreeBy<X509_free>>;
using KeyPtr = std::unique_ptr<EVP_PKEY, FreeBy<EVP_PKEY_free>>;

// The last error of this thread, in OpenSSL's words; it has none any more.
std::string TakeError() {
  const char* const reason = ERR_reason_error_string(ERR_peek_last_error());
  std::string text = reason == nullptr ? "OpenSSL does not say why" : reason;
  ERR_clear_error();
  return text;
}

absl::Status TlsError(std::string_view what, const std::string& file, std::string_view why) {
  return absl::InvalidArgumentError(
      absl::StrCat(std::string(what), " ", file, ": ", std::string(why)));
}

absl::StatusOr<std::string> ReadPem(std::string_view what, const std::string& path) {
  errno = 0;
  std::FILE* const file = std::fopen(path.c_str(), "re");
  if (file == nullptr) return TlsError(what, path, strerror(errno));
  std::string text;
  char bytes[4096];
  size_t count = 0;
  while (text.size() <= kPemBytesMax && (count = std::fread(bytes, 1, sizeof(bytes), file)) > 0) {
    text.append(bytes, count);
  }
  const int error = std::ferror(file) != 0 ? errno : 0;
  std::fclose(file);
  if (error != 0) return TlsError(what, path, strerror(error));
  if (text.size() > kPemBytesMax) {
    return TlsError(what, path, absl::StrCat("has more than ", kPemBytesMax, " bytes"));
  }
  return text;
}

BioPtr BioOf(const std::string& text) {
  return BioPtr(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

// All certificates of a file, at least one.
absl::StatusOr<std::vector<CertificatePtr>> ReadCertificates(std::string_view what,
                                                             const std::string& path) {
  LS_ASSIGN_OR_RETURN(const std::string text, ReadPem(what, path));
  const BioPtr bio = BioOf(text);
  std::vector<CertificatePtr> certificates;
  ERR_clear_error();
  while (X509* const next = PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr)) {
    certificates.emplace_back(next);
  }
  const bool is_at_end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  if (certificates.empty() && is_at_end) {
    ERR_clear_error();
    return TlsError(what, path, "holds no certificate in PEM form");
  }
  if (!is_at_end) {
    return TlsError(what, path,
                    absl::StrCat("certificate ", certificates.size() + 1, ": ", TakeError()));
  }
  ERR_clear_error();
  return certificates;
}

// Asked for a passphrase: notes that, and has none. Otherwise OpenSSL would ask at the terminal.
int NotePassphrase(char* /*to*/, int /*size*/, int /*for_writing*/, void* is_asked) {
  *static_cast<bool*>(is_asked) = true;
  return -1;
}

absl::StatusOr<KeyPtr> ReadKey(const std::string& path) {
  constexpr std::string_view kWhat = "TLS key";
  LS_ASSIGN_OR_RETURN(const std::string text, ReadPem(kWhat, path));
  const BioPtr bio = BioOf(text);
  bool is_encrypted = false;
  ERR_clear_error();
  KeyPtr key(PEM_read_bio_PrivateKey(bio.get(), nullptr, NotePassphrase, &is_encrypted));
  if (key != nullptr) return key;
  ERR_clear_error();
  return TlsError(kWhat, path,
                  is_encrypted ? "is encrypted with a passphrase; it has to be one without"
                               : "holds no private key in PEM form");
}

absl::Status UseCertificate(SSL_CTX* context, const TlsOptions& options) {
  constexpr std::string_view kWhat = "TLS certificate";
  const std::string& key_file =
      options.key_file.empty() ? options.certificate_file : options.key_file;
  LS_ASSIGN_OR_RETURN(const auto certificates, ReadCertificates(kWhat, options.certificate_file));
  LS_ASSIGN_OR_RETURN(const KeyPtr key, ReadKey(key_file));
  ERR_clear_error();
  X509* const own = certificates.front().get();
  if (X509_check_private_key(own, key.get()) != 1) {
    ERR_clear_error();
    return TlsError("TLS key", key_file,
                    absl::StrCat("is not the key of the certificate ", options.certificate_file));
  }
  if (SSL_CTX_use_certificate(context, own) != 1) {
    return TlsError(kWhat, options.certificate_file, TakeError());
  }
  for (size_t i = 1; i < certificates.size(); ++i) {
    if (SSL_CTX_add1_chain_cert(context, certificates[i].get()) != 1) {
      return TlsError(kWhat, options.certificate_file,
                      absl::StrCat("certificate ", i + 1, ": ", TakeError()));
    }
  }
  if (SSL_CTX_use_PrivateKey(context, key.get()) != 1) {
    return TlsError("TLS key", key_file, TakeError());
  }
  return absl::OkStatus();
}

absl::Status UseCas(SSL_CTX* context, const TlsOptions& options) {
  if (options.ca_file.empty()) {
    if (!options.require_client_certificate) return absl::OkStatus();
    return absl::InvalidArgumentError(
        "TLS asks clients for a certificate, and no file says which CAs may have signed it");
  }
  constexpr std::string_view kWhat = "TLS CA";
  LS_ASSIGN_OR_RETURN(const auto certificates, ReadCertificates(kWhat, options.ca_file));
  X509_STORE* const store = SSL_CTX_get_cert_store(context);
  for (const CertificatePtr& certificate : certificates) {
    if (X509_STORE_add_cert(store, certificate.get()) != 1 ||
        SSL_CTX_add_client_CA(context, certificate.get()) != 1) {
      return TlsError(kWhat, options.ca_file, TakeError());
    }
  }
  if (options.require_client_certificate) {
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  }
  return absl::OkStatus();
}

bool HasCipher(SSL_CTX* context, const std::string& name) {
  const STACK_OF(SSL_CIPHER)* const ciphers = SSL_CTX_get_ciphers(context);
  for (int i = 0; i < sk_SSL_CIPHER_num(ciphers); ++i) {
    if (name == SSL_CIPHER_get_name(sk_SSL_CIPHER_value(ciphers, i))) return true;
  }
  return false;
}

absl::Status UseCiphers(SSL_CTX* context, const std::string& names) {
  if (names.empty()) return absl::OkStatus();
  std::vector<std::string> suites;  // of TLS 1.3
  std::vector<std::string> ciphers;
  for (const absl::string_view name : absl::StrSplit(names, ':', absl::SkipEmpty())) {
    (name.substr(0, 4) == "TLS_" ? suites : ciphers).emplace_back(name);
  }
  const auto refuse = [&](const std::string& name) {
    ERR_clear_error();
    return absl::InvalidArgumentError(
        absl::StrCat("TLS ciphers '", names, "': OpenSSL has no '", name, "'"));
  };
  ERR_clear_error();
  if (!suites.empty()) {
    const bool is_set = SSL_CTX_set_ciphersuites(context, absl::StrJoin(suites, ":").c_str()) == 1;
    for (const std::string& suite : suites) {
      if (!is_set || !HasCipher(context, suite)) return refuse(suite);
    }
  }
  if (!ciphers.empty()) {
    const std::string list = absl::StrJoin(ciphers, ":");
    if (SSL_CTX_set_cipher_list(context, list.c_str()) != 1) return refuse(list);
  }
  return absl::OkStatus();
}

absl::Status Prepare(SSL_CTX* context, const TlsOptions& options) {
  const int version = options.min_version == TlsVersion::k1_3 ? TLS1_3_VERSION : TLS1_2_VERSION;
  if (SSL_CTX_set_min_proto_version(context, version) != 1) {
    return absl::FailedPreconditionError(absl::StrCat("TLS: ", TakeError()));
  }
  SSL_CTX_set_options(
      context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE);
  // An idle connection has no buffers.
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
  // Clients resume by tickets: nothing is kept for those that are gone.
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  constexpr std::string_view kId = "liststore";
  SSL_CTX_set_session_id_context(context, reinterpret_cast<const unsigned char*>(kId.data()),
                                 static_cast<unsigned>(kId.size()));
  LS_RETURN_IF_ERROR(UseCertificate(context, options));
  LS_RETURN_IF_ERROR(UseCas(context, options));
  return UseCiphers(context, options.ciphers);
}

}  // namespace

// What OpenSSL reads from and writes to: the channel that the call is about.
class TlsBio {
 public:
  static BioMethodPtr MakeMethod() {
    BioMethodPtr method(BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "liststore"));
    if (method == nullptr) throw std::bad_alloc();
    BIO_meth_set_read_ex(method.get(), Read);
    BIO_meth_set_write_ex(method.get(), Write);
    BIO_meth_set_ctrl(method.get(), Control);
    return method;
  }

 private:
  static int Read(BIO* bio, char* to, size_t bytes, size_t* read) {
    BIO_clear_retry_flags(bio);
    std::string_view& input = static_cast<TlsChannel*>(BIO_get_data(bio))->input_;
    if (input.empty()) {
      BIO_set_retry_read(bio);
      return 0;
    }
    *read = std::min(bytes, input.size());
    std::memcpy(to, input.data(), *read);
    input.remove_prefix(*read);
    return 1;
  }
  // Nothing is thrown through OpenSSL: where the heap refuses, the channel fails.
  static int Write(BIO* bio, const char* from, size_t bytes, size_t* written) {
    BIO_clear_retry_flags(bio);
    try {
      static_cast<TlsChannel*>(BIO_get_data(bio))->sink_->Append({from, bytes});
    } catch (const std::bad_alloc&) {
      return 0;
    }
    *written = bytes;
    return 1;
  }
  static long Control(BIO* /*bio*/, int command, long /*number*/, void* /*pointer*/) {
    return command == BIO_CTRL_FLUSH ? 1 : 0;
  }
};

class TlsContext {
 public:
  static absl::StatusOr<std::shared_ptr<const TlsContext>> Make(const TlsOptions& options) {
    ContextPtr context(SSL_CTX_new(TLS_server_method()));
    if (context == nullptr) {
      return absl::ResourceExhaustedError(absl::StrCat("TLS: ", TakeError()));
    }
    LS_RETURN_IF_ERROR(Prepare(context.get(), options));
    return std::make_shared<const TlsContext>(std::move(context));
  }
  explicit TlsContext(ContextPtr context)
      : bio_method_(TlsBio::MakeMethod()), context_(std::move(context)) {}

  SSL_CTX* get() const { return context_.get(); }
  const BIO_METHOD* bio_method() const { return bio_method_.get(); }

 private:
  const BioMethodPtr bio_method_;
  const ContextPtr context_;
};

struct TlsChannel::Ssl {
  SslPtr pointer;
};

TlsChannel::TlsChannel(std::shared_ptr<const TlsContext> context)
    : context_(std::move(context)), ssl_(std::make_unique<Ssl>()) {
  ssl_->pointer.reset(SSL_new(context_->get()));
  BIO* const bio = BIO_new(context_->bio_method());
  if (ssl_->pointer == nullptr || bio == nullptr) {
    BIO_free(bio);
    throw std::bad_alloc();
  }
  BIO_set_data(bio, this);
  BIO_set_init(bio, 1);
  SSL_set_bio(ssl_->pointer.get(), bio, bio);  // both hold the one reference
  SSL_set_accept_state(ssl_->pointer.get());
}

TlsChannel::~TlsChannel() = default;

size_t TlsChannel::Decrypt(std::string_view received, char* to, size_t bytes) {
  if (!has_begun_ && !received.empty()) {
    has_begun_ = true;
    // Whoever speaks something else would take an alert for an answer.
    if (received.front() != kHandshakeRecord) state_ = State::kFailed;
  }
  if (is_over()) return 0;
  const bool keeps = !kept_.empty();
  if (keeps) kept_.Append(received);
  input_ = keeps ? kept_.view() : received;
  SSL* const ssl = ssl_->pointer.get();
  size_t decrypted = 0;
  while (decrypted < bytes) {
    ERR_clear_error();
    size_t more = 0;
    const int result = SSL_read_ex(ssl, to + decrypted, bytes - decrypted, &more);
    if (!has_shaken_hands_ && SSL_is_init_finished(ssl) == 1) {
      has_shaken_hands_ = true;
      state_ = State::kOpen;
    }
    if (result != 1) {
      NoteResult(SSL_get_error(ssl, result));
      break;
    }
    decrypted += more;
  }
  if (keeps) {
    kept_.DropFront(kept_.size() - input_.size());
  } else {
    kept_.Append(input_);
  }
  if (kept_.empty()) kept_.ShrinkTo(0);
  input_ = {};
  return decrypted;
}

void TlsChannel::NoteResult(int result) {
  if (result == SSL_ERROR_WANT_READ) return;
  LS_DCHECK(result != SSL_ERROR_WANT_WRITE, "all that is to be written is taken");
  state_ = result == SSL_ERROR_ZERO_RETURN ? State::kEnded : State::kFailed;
  // It is not listened to any more.
  input_ = {};
  kept_.Clear();
  ERR_clear_error();
}

bool TlsChannel::has_more() const {
  return is_over() || !kept_.empty() || SSL_pending(ssl_->pointer.get()) > 0;
}

bool TlsChannel::Encrypt(std::string_view bytes, OutputBuffer& out) {
  out.Append(output_.view());
  output_.Clear();
  output_.ShrinkTo(0);
  if (bytes.empty()) return true;
  // A client that sends no more may still be answered.
  if (!has_shaken_hands_ || state_ == State::kFailed) return false;
  // OpenSSL writes record by record: once is enough to grow.
  out.Reserve(bytes.size() + (bytes.size() / kRecordBytesMax + 1) * kRecordOverheadMax);
  ERR_clear_error();
  size_t written = 0;
  sink_ = &out;
  const int result = SSL_write_ex(ssl_->pointer.get(), bytes.data(), bytes.size(), &written);
  sink_ = &output_;
  if (result == 1 && written == bytes.size()) return true;
  ERR_clear_error();
  return false;
}

void TlsChannel::Finish(OutputBuffer& out) {
  if (has_shaken_hands_ && state_ != State::kFailed) {
    ERR_clear_error();
    SSL_shutdown(ssl_->pointer.get());
    ERR_clear_error();
  }
  if (!Encrypt({}, out)) LS_UNREACHABLE("nothing can be said always");
}

TlsFacts TlsChannel::facts() const {
  const SSL* const ssl = ssl_->pointer.get();
  LS_DCHECK(has_shaken_hands_, "an open channel has agreed on something");
  const SSL_CIPHER* const cipher = SSL_get_current_cipher(ssl);
  const char* const name = cipher == nullptr ? nullptr : SSL_CIPHER_standard_name(cipher);
  return {.protocol = SSL_get_version(ssl), .cipher_suite = name == nullptr ? "" : name};
}

size_t TlsChannel::held_bytes() const {
  return (has_shaken_hands_ ? kOpenBytes : kHandshakeBytes) + kept_.capacity() + output_.capacity();
}

absl::StatusOr<std::unique_ptr<TlsAcceptor>> TlsAcceptor::Create(const TlsOptions& options) {
  LS_ASSIGN_OR_RETURN(auto context, TlsContext::Make(options));
  return std::unique_ptr<TlsAcceptor>(new TlsAcceptor(options, std::move(context)));
}

TlsAcceptor::TlsAcceptor(const TlsOptions& options, std::shared_ptr<const TlsContext> context)
    : options_(options), context_(std::move(context)) {}
TlsAcceptor::~TlsAcceptor() = default;

absl::Status TlsAcceptor::Reload() {
  TlsOptions options;
  {
    const MutexLock lock(mutex_);
    options = options_;
  }
  return Reload(options);
}

absl::Status TlsAcceptor::Reload(const TlsOptions& options) {
  LS_ASSIGN_OR_RETURN(auto context, TlsContext::Make(options));
  TlsOptions kept = options;
  const MutexLock lock(mutex_);
  context_.swap(context);
  std::swap(options_, kept);
  return absl::OkStatus();
}

std::unique_ptr<TlsChannel> TlsAcceptor::MakeChannel() const {
  std::shared_ptr<const TlsContext> context;
  {
    const MutexLock lock(mutex_);
    context = context_;
  }
  return std::make_unique<TlsChannel>(std::move(context));
}

}  // namespace liststore::network
