#include "tools/serve/port_owner.h"

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>
#include <string_view>
#include <vector>

namespace liststore {
namespace {

// Names of a folder; none where it cannot be read.
std::vector<std::string> NamesIn(const std::string& folder) {
  const std::unique_ptr<DIR, int (*)(DIR*)> open(opendir(folder.c_str()), closedir);
  std::vector<std::string> names;
  while (open != nullptr) {
    const dirent* const entry = readdir(open.get());
    if (entry == nullptr) break;
    names.emplace_back(entry->d_name);
  }
  return names;
}

// What the links of /proc/PID/fd say of the sockets that listen on `port`: "socket:[INODE]". A line
// of /proc/net/tcp is "sl local_address rem_address st tx:rx tr:when retrnsmt uid timeout inode",
// with address and port in hexadecimal; state 0A listens.
std::vector<std::string> SocketsListeningOn(uint16_t port) {
  std::vector<std::string> sockets;
  for (const char* table : {"/proc/self/net/tcp", "/proc/self/net/tcp6"}) {
    std::ifstream file(table);
    std::string line;
    std::getline(file, line);  // the names of the columns
    while (std::getline(file, line)) {
      std::istringstream words(line);
      std::string number, local, remote, state, queues, timer, retransmits, user, timeout, inode;
      words >> number >> local >> remote >> state >> queues >> timer >> retransmits >> user >>
          timeout >> inode;
      const size_t colon = local.rfind(':');
      if (state != "0A" || inode.empty() || colon == std::string::npos) continue;
      if (std::strtoul(local.c_str() + colon + 1, nullptr, 16) != port) continue;
      sockets.push_back("socket:[" + inode + "]");
    }
  }
  return sockets;
}

bool HasOneOf(const std::string& process, const std::vector<std::string>& sockets) {
  const std::string folder = process + "/fd/";
  for (const std::string& name : NamesIn(folder)) {
    char target[64];
    const ssize_t size = readlink((folder + name).c_str(), target, sizeof(target));
    if (size <= 0) continue;
    const std::string_view link(target, static_cast<size_t>(size));
    if (std::ranges::find(sockets, link) != sockets.end()) return true;
  }
  return false;
}

}  // namespace

std::optional<PortOwner> FindPortOwner(uint16_t port) {
  const std::vector<std::string> sockets = SocketsListeningOn(port);
  if (sockets.empty()) return std::nullopt;
  for (const std::string& name : NamesIn("/proc")) {
    const std::string process = "/proc/" + name;
    const int pid = std::atoi(name.c_str());
    if (pid <= 0 || !HasOneOf(process, sockets)) continue;
    PortOwner owner{.pid = pid, .name = {}};
    std::ifstream(process + "/comm") >> owner.name;
    return owner;
  }
  return std::nullopt;
}

}  // namespace liststore
