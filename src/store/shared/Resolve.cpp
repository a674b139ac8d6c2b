#include "src/store/shared/Resolve.h"

#include <cstring>
#include <future>
#include <netdb.h>
#include <sys/un.h>
#include <system_error>
#include <thread>

namespace jitk {

static Result<std::vector<SocketAddress>> lookUp(const std::string &host, uint16_t port, int flags) {
  addrinfo wanted = {};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = flags | AI_NUMERICSERV;
  addrinfo *found = nullptr;
  if (int error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &wanted, &found); error != 0) {
    return unavailable("host " + host + ": " + ::gai_strerror(error));
  }
  std::vector<SocketAddress> places;
  for (const addrinfo *one = found; one; one = one->ai_next) {
    SocketAddress place;
    std::memcpy(&place.bytes, one->ai_addr, one->ai_addrlen);
    place.length = one->ai_addrlen;
    places.push_back(place);
  }
  ::freeaddrinfo(found);
  return places;
}

static Result<std::vector<SocketAddress>> localSocket(const std::string &path) {
  sockaddr_un local = {};
  local.sun_family = AF_UNIX;
  if (path.size() >= sizeof local.sun_path) {
    return unavailable("socket path must be shorter than " + std::to_string(sizeof local.sun_path) + " bytes: got " +
                       std::to_string(path.size()));
  }
  std::memcpy(local.sun_path, path.c_str(), path.size() + 1);
  SocketAddress place;
  std::memcpy(&place.bytes, &local, sizeof local);
  place.length = sizeof local;
  return std::vector<SocketAddress>{place};
}

Result<std::vector<SocketAddress>> resolve(const RedisAddress &address,
                                           std::chrono::steady_clock::time_point deadline) {
  if (address.host.empty()) {
    return localSocket(address.socketPath);
  }
  if (Result<std::vector<SocketAddress>> places = lookUp(address.host, address.port, AI_NUMERICHOST); places.ok()) {
    return places;
  }
  std::promise<Result<std::vector<SocketAddress>>> promise;
  std::future<Result<std::vector<SocketAddress>>> found = promise.get_future();
  try {
    std::thread([host = address.host, port = address.port, answer = std::move(promise)]() mutable {
      answer.set_value(lookUp(host, port, 0));
    }).detach();
  } catch (const std::system_error &error) {
    return unavailable("host " + address.host + ": no thread to look it up: " + error.what());
  }
  if (found.wait_until(deadline) != std::future_status::ready) {
    return Status(StatusCode::DeadlineExceeded, "look-up of host " + address.host + " took too long");
  }
  return found.get();
}

} // namespace jitk
