// A redis-server of a test's own: on a free port of the loopback interface and on a socket in a folder of its own.

#pragma once

#include "tests/support/TemporaryFolder.h"

#include <chrono>
#include <csignal>
#include <netinet/in.h>
#include <spawn.h>
#include <string>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

extern char **environ;

namespace jitk::test {

/// A port that was free a moment ago.
inline uint16_t freePort() {
  int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in place = {};
  place.sin_family = AF_INET;
  place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof place;
  bool bound = ::bind(socket, reinterpret_cast<sockaddr *>(&place), length) == 0 &&
               ::getsockname(socket, reinterpret_cast<sockaddr *>(&place), &length) == 0;
  ::close(socket);
  return bound ? ntohs(place.sin_port) : 0;
}

class RedisServer {
public:
  /// Runs `program` with more options, if there are some. `running` says whether it came up.
  explicit RedisServer(const std::string &program, std::vector<std::string> options = {}, uint16_t port = freePort())
      : port_(port) {
    std::vector<std::string> words = {program,        "--port",    std::to_string(port_),
                                      "--bind",       "127.0.0.1", "--unixsocket",
                                      socketPath(),   "--save",    "",
                                      "--appendonly", "no",        "--dir",
                                      folder_.path(), "--logfile", folder_.path("log")};
    words.insert(words.end(), options.begin(), options.end());
    std::vector<char *> arguments;
    for (std::string &word : words) {
      arguments.push_back(word.data());
    }
    arguments.push_back(nullptr);
    if (::posix_spawnp(&process_, program.c_str(), nullptr, nullptr, arguments.data(), environ) != 0) {
      process_ = -1;
      return;
    }
    for (int i = 0; i < 1000 && !running_ && ::waitpid(process_, nullptr, WNOHANG) == 0; ++i) {
      running_ = ::access(socketPath().c_str(), F_OK) == 0;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
  RedisServer(const RedisServer &) = delete;
  RedisServer &operator=(const RedisServer &) = delete;
  ~RedisServer() {
    if (process_ > 0) {
      ::kill(process_, SIGKILL);
      ::waitpid(process_, nullptr, 0);
    }
  }

  bool running() const { return running_; }
  uint16_t port() const { return port_; }
  std::string url() const { return "redis://127.0.0.1:" + std::to_string(port_); }
  std::string socketPath() const { return folder_.path("socket"); }

  /// Stops it from running, and lets it go on.
  void freeze() const { ::kill(process_, SIGSTOP); }
  void thaw() const { ::kill(process_, SIGCONT); }

private:
  TemporaryFolder folder_;
  uint16_t port_;
  pid_t process_ = -1;
  bool running_ = false;
};

} // namespace jitk::test
