// The congestion control of connections that do not leave the machine.
#ifndef LISTSTORE_ENGINE_BASE_LOOPBACK_CONGESTION_H_
#define LISTSTORE_ENGINE_BASE_LOOPBACK_CONGESTION_H_

namespace liststore {

// Where both ends of the connected socket are on this machine, asks for Reno, which every Linux has and
// every process may ask for. A machine's default may be BBR, which paces what it sends by what it has
// measured of the network: on loopback there is none, and pacing takes an eighth of a server's time and
// holds segments back for milliseconds (docs/benchmarks.md). False: the other end is elsewhere, and the
// connection keeps what the machine has; or the kernel refuses, and nothing is changed. Three system
// calls.
bool UseLoopbackCongestion(int connected);

// The same of a listening socket, for all that it accepts from here on, wherever they come from. False:
// the kernel refuses.
bool UseLoopbackCongestionOfAccepted(int listening);

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_BASE_LOOPBACK_CONGESTION_H_
