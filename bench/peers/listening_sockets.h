// The listening sockets of another process.
#ifndef LISTSTORE_BENCH_PEERS_LISTENING_SOCKETS_H_
#define LISTSTORE_BENCH_PEERS_LISTENING_SOCKETS_H_

#include <sys/types.h>

namespace liststore {

// Gives what the process `server` accepts from here on the congestion control that connections on
// loopback get from our own server, so that the two are asked over the same sockets. How many listening
// sockets it was done for: 0 where the kernel does not let this process reach them, as a process that
// is neither an ancestor of `server` nor privileged.
int UseLoopbackCongestionIn(pid_t server);

}  // namespace liststore

#endif  // LISTSTORE_BENCH_PEERS_LISTENING_SOCKETS_H_
