// Lines of a text file, plain or gzip, streamed: a log of any length is read in bounded memory.
#ifndef LISTSTORE_PROGRAMS_OPLOG_LINE_READER_H_
#define LISTSTORE_PROGRAMS_OPLOG_LINE_READER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

struct gzFile_s;  // zlib's; only line_reader.cc sees zlib.h

namespace liststore {

// One thread. Holds the longest line seen plus one read of 256 KiB. gzip is recognised by the
// file's first bytes, not by its name; "-" is standard input.
class LineReader {
 public:
  // A longer line is an error: no single operation comes near it.
  static constexpr size_t kLineBytesMax = size_t{64} << 20;

  // NotFound or InvalidArgument, with the path and the system's reason.
  static absl::StatusOr<LineReader> Open(const std::string& path);
  LineReader(LineReader&&) = default;
  LineReader& operator=(LineReader&&) = default;

  // Sets `*line` to the next line, without its newline; it lasts until the next call. False at the
  // end of the file. InvalidArgument: the file could not be read on (broken or cut off gzip, line
  // too long); the message begins with file and line, and what came of that line is not returned.
  absl::StatusOr<bool> Next(std::string_view* line);

  // Number of the line returned last, from 1.
  uint64_t line_number() const { return line_number_; }
  // "FILE:LINE: reason", for the line returned last.
  absl::Status Error(std::string_view reason) const { return ErrorAt(line_number_, reason); }
  absl::Status ErrorAt(uint64_t line_number, std::string_view reason) const;
  const std::string& path() const { return path_; }
  // How far the file has been read, from 0 to 1; negative when its length is not known.
  double progress() const;

 private:
  struct CloseFile {
    void operator()(gzFile_s* file) const;
  };

  LineReader(std::string path, gzFile_s* file, uint64_t file_bytes)
      : path_(std::move(path)), file_(file), file_bytes_(file_bytes) {}
  // Reads more behind the unread bytes; sets at_end_ when there is no more.
  absl::Status Fill();

  std::string path_;
  std::unique_ptr<gzFile_s, CloseFile> file_;
  uint64_t file_bytes_ = 0;  // as stored; 0: not a regular file
  // Read but not returned: buffer_[begin_, end_).
  std::string buffer_;
  size_t begin_ = 0;
  size_t end_ = 0;
  bool at_end_ = false;
  uint64_t line_number_ = 0;
};

}  // namespace liststore

#endif  // LISTSTORE_PROGRAMS_OPLOG_LINE_READER_H_
