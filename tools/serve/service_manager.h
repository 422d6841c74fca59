// ServiceManager: what systemd is told of a service of Type=notify, over the socket that it names in the
// environment. Source: sd_notify(3), sd_watchdog_enabled(3).
#ifndef LISTSTORE_TOOLS_SERVE_SERVICE_MANAGER_H_
#define LISTSTORE_TOOLS_SERVE_SERVICE_MANAGER_H_

#include <chrono>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

namespace liststore {

// Where nobody asks to be told, all of this does nothing. One thread. A call sends a datagram, and does not wait for
// whoever reads it: Ready, Reloading and Stopping are kept where there is no room, and sent before what comes next.
class ServiceManager {
 public:
  using Instant = std::chrono::steady_clock::time_point;

  // As the environment says: NOTIFY_SOCKET, a path or an abstract name ("@..."), WATCHDOG_USEC and
  // WATCHDOG_PID. Variables that make no sense count as absent.
  ServiceManager();
  ~ServiceManager();
  ServiceManager(const ServiceManager&) = delete;
  ServiceManager& operator=(const ServiceManager&) = delete;

  // Somebody is told.
  bool is_there() const { return socket_ >= 0; }
  // How often it is to hear that all is well, at least: half of the time after which it ends a program that is
  // silent. nullopt: not at all.
  std::optional<std::chrono::nanoseconds> watchdog_period() const { return watchdog_period_; }

  // The server serves; again behind Reloading. `status`: one line for people.
  void Ready(std::string_view status);
  void Reloading();
  void Stopping(std::string_view status);
  // Sent when it is not what was said last.
  void Status(std::string_view status);
  // Sends what was kept.
  void Resend();
  // Resend; and that all is well, if it is, twice in that time or more often: `longest_turn` is how long a loop
  // has been at one thing. To be called as often as the watchdog wants, and more often at will. A loop may be
  // silent for as long as the watchdog's period, and for three seconds at least.
  void LookAfter(std::chrono::nanoseconds longest_turn, Instant now);

 private:
  // False: there is no room at the moment.
  bool Send(const std::string& state) const;
  void SendOrKeep(std::string state, std::string_view status);

  int socket_ = -1;     // connected; -1: nobody is told
  std::string status_;  // that was said last; empty: none, or it waits
  std::deque<std::string> kept_;
  std::optional<std::chrono::nanoseconds> watchdog_period_;
  Instant next_ = Instant::min();  // to say that all is well
};

}  // namespace liststore

#endif  // LISTSTORE_TOOLS_SERVE_SERVICE_MANAGER_H_
