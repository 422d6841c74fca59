#include "programs/oplog/line_reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "engine/base/check.h"
#include "engine/base/status_macros.h"

namespace liststore {
namespace {

constexpr size_t kReadBytes = 256 * 1024;

absl::Status SystemError(const std::string& path, int error) {
  const std::string message = absl::StrCat(path, ": ", std::strerror(error));
  return error == ENOENT ? absl::NotFoundError(message) : absl::InvalidArgumentError(message);
}

}  // namespace

void LineReader::CloseFile::operator()(gzFile_s* file) const { gzclose_r(file); }

absl::StatusOr<LineReader> LineReader::Open(const std::string& path) {
  const bool standard_input = path == "-";
  const int descriptor =
      standard_input ? ::dup(STDIN_FILENO) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return SystemError(path, errno);
  struct stat about {};
  if (::fstat(descriptor, &about) != 0 || S_ISDIR(about.st_mode)) {
    const int error = S_ISDIR(about.st_mode) ? EISDIR : errno;
    ::close(descriptor);
    return SystemError(path, error);
  }
  gzFile_s* const file = gzdopen(descriptor, "rb");
  LS_CHECK(file != nullptr, "zlib opens any descriptor while there is memory");
  gzbuffer(file, kReadBytes);
  const uint64_t bytes = S_ISREG(about.st_mode) ? static_cast<uint64_t>(about.st_size) : 0;
  return LineReader(standard_input ? "<stdin>" : path, file, bytes);
}

absl::StatusOr<bool> LineReader::Next(std::string_view* line) {
  size_t searched = 0;  // unread bytes known to hold no newline
  for (;;) {
    const char* const begin = buffer_.data() + begin_;
    const size_t unread = end_ - begin_;
    const void* newline =
        unread == searched ? nullptr : std::memchr(begin + searched, '\n', unread - searched);
    if (newline != nullptr) {
      const size_t bytes = static_cast<size_t>(static_cast<const char*>(newline) - begin);
      *line = {begin, bytes};
      begin_ += bytes + 1;
      ++line_number_;
      return true;
    }
    if (at_end_) break;
    if (unread > kLineBytesMax) {
      return ErrorAt(line_number_ + 1,
                     absl::StrFormat("line is longer than %d bytes", kLineBytesMax));
    }
    searched = unread;
    LS_RETURN_IF_ERROR(Fill());
  }
  if (begin_ == end_) return false;
  *line = {buffer_.data() + begin_, end_ - begin_};  // the last line needs no newline
  begin_ = end_;
  ++line_number_;
  return true;
}

absl::Status LineReader::Fill() {
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (buffer_.size() < end_ + kReadBytes) buffer_.resize(end_ + kReadBytes);
  errno = 0;
  const int bytes = gzread(file_.get(), buffer_.data() + end_, kReadBytes);
  if (bytes > 0) {
    end_ += static_cast<size_t>(bytes);
    return absl::OkStatus();
  }
  // The whole lines in front of a fault were returned before this call: what is left is part of
  // one.
  int error = Z_OK;
  const char* const text = gzerror(file_.get(), &error);
  if (error == Z_BUF_ERROR) return ErrorAt(line_number_ + 1, "the gzip file ends early");
  if (error == Z_ERRNO) return ErrorAt(line_number_ + 1, std::strerror(errno));
  if (bytes < 0 || error != Z_OK) {
    return ErrorAt(line_number_ + 1, absl::StrCat("the gzip file is damaged: ", text));
  }
  at_end_ = true;
  return absl::OkStatus();
}

absl::Status LineReader::ErrorAt(uint64_t line_number, std::string_view reason) const {
  return absl::InvalidArgumentError(absl::StrFormat("%s:%d: %s", path_, line_number, reason));
}

double LineReader::progress() const {
  if (file_bytes_ == 0) return -1;
  const double read = static_cast<double>(gzoffset(file_.get()));
  const double share = read / static_cast<double>(file_bytes_);
  return share < 1 ? share : 1;
}

}  // namespace liststore
