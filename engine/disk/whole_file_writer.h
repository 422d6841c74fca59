// WholeFileWriter: writes a file that is there as a whole or not at all, whenever the process or
// the machine stops.
//
//   WholeFileWriter writer(KernelFileCalls(), "/var/lib/service/lists.saved");
//   LS_RETURN_IF_ERROR(writer.Open());
//   LS_RETURN_IF_ERROR(writer.Append(bytes));     // as often as it takes
//   LS_RETURN_IF_ERROR(writer.Publish());         // before this, the old file is untouched
//
// What is appended goes to a file beside it, "<path>.saving", which is synced, renamed over `path`,
// and the directory synced. The file beside is locked while it is written, so that two writers of
// one path do not meet; one that a crash left behind is written over.
#ifndef LISTSTORE_ENGINE_DISK_WHOLE_FILE_WRITER_H_
#define LISTSTORE_ENGINE_DISK_WHOLE_FILE_WRITER_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "engine/disk/byte_stream.h"
#include "engine/disk/file_calls.h"

namespace liststore::disk {

// Used by one thread. After an error only the destructor is left.
class WholeFileWriter final : public ByteSink {
 public:
  // `calls` outlives the writer.
  WholeFileWriter(FileCalls& calls, std::string path);
  // Removes the file beside, unless Publish renamed it.
  ~WholeFileWriter() override;
  WholeFileWriter(const WholeFileWriter&) = delete;
  WholeFileWriter& operator=(const WholeFileWriter&) = delete;

  // Makes the file beside. Unavailable: another writer has it. NotFound: no such directory;
  // PermissionDenied.
  absl::Status Open();
  // ResourceExhausted: no space.
  absl::Status Append(std::string_view bytes) override;
  // Puts the file in its place. `sync`: returns when it would survive a loss of power; else only
  // other processes see it whole. After an error of the last step, the sync of the directory, the
  // file is in its place all the same.
  absl::Status Publish(bool sync = true);

  uint64_t bytes() const { return bytes_; }

 private:
  static constexpr int kNoFile = -1;

  absl::Status OpenOnce(bool& again);
  absl::Status SyncDirectory(const std::string& path);

  FileCalls& calls_;
  const std::string path_;
  const std::string beside_;
  int file_ = kNoFile;
  uint64_t bytes_ = 0;
};

}  // namespace liststore::disk

#endif  // LISTSTORE_ENGINE_DISK_WHOLE_FILE_WRITER_H_
