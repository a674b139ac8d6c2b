// For programs that start themselves again and again, to end in some way at some moment.
#ifndef JITK_TESTS_CAPI_EXITS_HPP
#define JITK_TESTS_CAPI_EXITS_HPP

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <spawn.h>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

extern char **environ;

/// True if the process ended by itself with 0, and soon.
inline bool endsWell(const char *program, const std::string &way, unsigned delay) {
  std::string microseconds = std::to_string(delay);
  const char *arguments[] = {program, way.c_str(), microseconds.c_str(), nullptr};
  pid_t process = 0;
  auto started = std::chrono::steady_clock::now();
  if (::posix_spawn(&process, program, nullptr, nullptr, const_cast<char **>(arguments), environ) != 0) {
    std::printf("cannot start %s\n", program);
    return false;
  }
  int status = 0;
  while (::waitpid(process, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() - started > std::chrono::seconds(60)) {
      ::kill(process, SIGKILL);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
    return true;
  }
  std::printf("%s after %u us: %s %d\n", way.c_str(), delay, WIFSIGNALED(status) ? "signal" : "exit status",
              WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
  return false;
}

/// Starts `PROGRAM WAY DELAY` as often as the argument says (once if left out) in each way, with random delays of up to
/// 200 ms. Returns the exit status of the whole.
inline int tryExits(int argc, char **argv, const std::vector<std::string> &ways) {
  int count = argc > 1 ? std::atoi(argv[1]) : 1;
  std::mt19937 random(std::random_device{}());
  int failures = 0, tries = 0;
  for (const std::string &way : ways) {
    for (int i = 0; i < count; ++i, ++tries) {
      failures += !endsWell(argv[0], way, static_cast<unsigned>(random() % 200'000));
    }
  }
  std::printf("%d exits, %d failed\n", tries, failures);
  return failures == 0 && tries > 0 ? 0 : 1;
}

#endif
