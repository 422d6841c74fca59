// MD5 of a stream, as hex: how answers are compared. libcrypto's, so that the digests of item keys
// are not judged by the code that made them.
#ifndef LISTSTORE_TOOLS_REPLAY_MD5_HEX_H_
#define LISTSTORE_TOOLS_REPLAY_MD5_HEX_H_

#include <memory>
#include <string>
#include <string_view>

struct evp_md_ctx_st;
struct evp_md_st;

namespace liststore {

// One thread; used again and again, so that the digest is fetched once.
class Md5Hex {
 public:
  Md5Hex();
  void Add(std::string_view bytes);
  // The digest of what was added since the last call: 32 lower-case digits.
  std::string Finish();

 private:
  struct Free {
    void operator()(evp_md_ctx_st* context) const;
    void operator()(evp_md_st* digest) const;
  };
  std::unique_ptr<evp_md_st, Free> digest_;
  std::unique_ptr<evp_md_ctx_st, Free> context_;
};

}  // namespace liststore

#endif  // LISTSTORE_TOOLS_REPLAY_MD5_HEX_H_
