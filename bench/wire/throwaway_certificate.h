// A certificate for a server that a benchmark starts for itself.
#ifndef LISTSTORE_BENCH_WIRE_THROWAWAY_CERTIFICATE_H_
#define LISTSTORE_BENCH_WIRE_THROWAWAY_CERTIFICATE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace liststore {

// A file in memory with a new key on P-256 and a certificate for 127.0.0.1 that it has signed itself, valid
// for a day. Its path is good for processes of the same user, as long as the object lives; nothing of it
// reaches a disk, however the process ends.
class ThrowawayCertificate {
 public:
  // Unavailable: the process may have no more open files, or no more memory.
  static absl::StatusOr<std::unique_ptr<ThrowawayCertificate>> Make();
  ~ThrowawayCertificate();
  ThrowawayCertificate(const ThrowawayCertificate&) = delete;
  ThrowawayCertificate& operator=(const ThrowawayCertificate&) = delete;

  const std::string& path() const { return path_; }

 private:
  explicit ThrowawayCertificate(int fd);
  const int fd_;
  const std::string path_;
};

}  // namespace liststore

#endif  // LISTSTORE_BENCH_WIRE_THROWAWAY_CERTIFICATE_H_
