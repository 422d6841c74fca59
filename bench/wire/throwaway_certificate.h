// A certificate for a server that a benchmark starts for itself.
#ifndef LISTSTORE_BENCH_WIRE_THROWAWAY_CERTIFICATE_H_
#define LISTSTORE_BENCH_WIRE_THROWAWAY_CERTIFICATE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace liststore {

// A file with a new key on P-256 and a certificate for 127.0.0.1 that it has signed itself, valid for a
// day. Readable by its owner alone; gone with the object.
class ThrowawayCertificate {
 public:
  // Unavailable: there is no folder for temporary files that can be written to.
  static absl::StatusOr<std::unique_ptr<ThrowawayCertificate>> Make();
  ~ThrowawayCertificate();
  ThrowawayCertificate(const ThrowawayCertificate&) = delete;
  ThrowawayCertificate& operator=(const ThrowawayCertificate&) = delete;

  const std::string& path() const { return path_; }

 private:
  explicit ThrowawayCertificate(std::string path) : path_(std::move(path)) {}
  const std::string path_;
};

}  // namespace liststore

#endif  // LISTSTORE_BENCH_WIRE_THROWAWAY_CERTIFICATE_H_
