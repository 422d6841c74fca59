#include "tools/console/history_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "engine/base/strings.h"

namespace liststore {
namespace {

constexpr mode_t kOwnerAlone = 0600;
// A line that is longer was typed by nobody.
constexpr size_t kEntryBytesMax = 64 * 1024;

std::string Encoded(std::string_view entry) {
  std::string line;
  for (const char c : entry) {
    if (c == '\n') {
      line += "\\n";
    } else {
      line += c;
      if (c == '\\') line += c;
    }
  }
  return line;
}

std::string Decoded(std::string_view line) {
  std::string entry;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\\' && i + 1 < line.size()) {
      ++i;
      entry += line[i] == 'n' ? '\n' : line[i];
    } else {
      entry += line[i];
    }
  }
  return entry;
}

absl::Status CannotWrite(const std::string& path) {
  return absl::UnavailableError(absl::StrCat("cannot write ", path, ": ", std::strerror(errno)));
}

// In one write, so that lines of consoles that run at once do not mix.
absl::Status WriteTo(const std::string& path, int flags, std::string_view text) {
  const int fd =
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | flags, kOwnerAlone);
  if (fd < 0) return CannotWrite(path);
  absl::Status status = absl::OkStatus();
  // A file that was there may have been open to others. A link to /dev/null, which says that nothing is to be
  // kept, leads to what is everybody's.
  struct stat file = {};
  const bool is_ours = ::fstat(fd, &file) == 0 && S_ISREG(file.st_mode);
  if ((is_ours && ::fchmod(fd, kOwnerAlone) != 0) ||
      ::write(fd, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    status = CannotWrite(path);
  }
  ::close(fd);
  return status;
}

}  // namespace

std::string DefaultHistoryPath() {
  const char* const state = std::getenv("XDG_STATE_HOME");
  // One that is not absolute does not count, says the XDG Base Directory Specification.
  if (state != nullptr && *state == '/') return std::string(state) + "/liststore/history";
  const char* const home = std::getenv("HOME");
  if (home == nullptr || *home != '/') return "";
  return std::string(home) + "/.local/state/liststore/history";
}

bool HistoryFile::MayHoldPassword(std::string_view entry) {
  return absl::AsciiStrToLower(ToAbsl(entry)).find("password") != std::string::npos;
}

std::vector<std::string> HistoryFile::Load() const {
  std::vector<std::string> entries;
  if (path_.empty()) return entries;
  std::ifstream file(path_);
  std::string line;
  size_t lines = 0;
  while (std::getline(file, line)) {
    if (line.empty() || line.size() > kEntryBytesMax) continue;
    ++lines;
    // Never more in memory than twice of what is wanted.
    if (entries.size() == 2 * kEntriesMax) {
      entries.erase(entries.begin(), entries.begin() + kEntriesMax);
    }
    entries.push_back(Decoded(line));
  }
  if (entries.size() > kEntriesMax) {
    entries.erase(entries.begin(), entries.end() - static_cast<ptrdiff_t>(kEntriesMax));
  }
  if (lines < 2 * kEntriesMax) return entries;
  std::string text;
  for (const std::string& entry : entries) text += Encoded(entry) + '\n';
  const std::string whole = path_ + ".new";
  // Where that cannot be done the file stays long.
  if (!WriteTo(whole, O_TRUNC, text).ok() || std::rename(whole.c_str(), path_.c_str()) != 0) {
    ::unlink(whole.c_str());
  }
  return entries;
}

absl::Status HistoryFile::Add(std::string_view entry) const {
  if (path_.empty() || entry.size() > kEntryBytesMax || MayHoldPassword(entry)) {
    return absl::OkStatus();
  }
  const std::filesystem::path folder = std::filesystem::path(path_).parent_path();
  std::error_code error;
  if (std::filesystem::create_directories(folder, error)) {
    std::filesystem::permissions(folder, std::filesystem::perms::owner_all, error);
  }
  return WriteTo(path_, O_APPEND, Encoded(entry) + '\n');
}

}  // namespace liststore
