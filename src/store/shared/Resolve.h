// From a host name to socket addresses, by a deadline: the system's own look-up has none.

#pragma once

#include "src/store/shared/RedisAddress.h"
#include "src/support/Status.h"

#include <chrono>
#include <sys/socket.h>
#include <vector>

namespace jitk {

/// What connect() takes.
struct SocketAddress {
  sockaddr_storage bytes = {};
  socklen_t length = 0;

  const sockaddr *get() const { return reinterpret_cast<const sockaddr *>(&bytes); }
  int family() const { return bytes.ss_family; }
};

/// The addresses of a server, in the order in which to try them. Numbers and paths are read here and now; a name is
/// looked up by a thread of its own, which goes on by itself if it outlives the deadline. Fails with Unavailable, or
/// DeadlineExceeded.
Result<std::vector<SocketAddress>> resolve(const RedisAddress &address, std::chrono::steady_clock::time_point deadline);

} // namespace jitk
