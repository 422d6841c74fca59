#include "tools/liststore/reading_line.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <system_error>

#include "programs/console/text.h"

namespace liststore {
namespace {

// 0: the system does not tell. Source: proc(5), /proc/PID/io.
uint64_t BytesRead() {
  std::ifstream file("/proc/self/io");
  std::string name;
  uint64_t bytes = 0;
  return file >> name >> bytes && name == "rchar:" ? bytes : 0;
}

// What cannot be looked at counts nothing: who reads the directory says what is wrong with it.
uint64_t BytesBelow(const std::string& directory) {
  uint64_t bytes = 0;
  std::error_code error;
  std::filesystem::recursive_directory_iterator at(directory, error);
  for (; !error && at != std::filesystem::recursive_directory_iterator(); at.increment(error)) {
    std::error_code of_file;
    const uint64_t size = at->is_regular_file(of_file) ? at->file_size(of_file) : 0;
    if (!of_file) bytes += size;
  }
  return bytes;
}

std::function<std::string()> ReadSoFar(const std::string& directory) {
  const uint64_t all = BytesBelow(directory);
  const uint64_t before = BytesRead();
  if (all == 0 || before == 0) return {};
  return [all, before] {
    // Some is read twice.
    const uint64_t read = BytesRead();
    return Bytes(std::min(read - std::min(read, before), all)) + " of " + Bytes(all) + " read";
  };
}

}  // namespace

ReadingLine::ReadingLine(const std::string& what, const std::string& directory)
    : line_(what + " " + directory, ReadSoFar(directory)) {}

}  // namespace liststore
