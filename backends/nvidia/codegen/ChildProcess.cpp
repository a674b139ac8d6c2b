#include "backends/nvidia/codegen/ChildProcess.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace jitk::nvidia {

namespace {
using Clock = std::chrono::steady_clock;

/// Attributes and file actions of one spawn.
class SpawnPlan {
public:
  explicit SpawnPlan(int output) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions_, output, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions_, output, STDERR_FILENO);
    posix_spawnattr_init(&attributes_);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setpgroup(&attributes_, 0);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  }
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnPlan(const SpawnPlan &) = delete;

  int spawn(pid_t &child, const std::vector<std::string> &arguments) {
    std::vector<char *> argv;
    for (const std::string &argument : arguments) {
      argv.push_back(const_cast<char *>(argument.c_str()));
    }
    argv.push_back(nullptr);
    return posix_spawn(&child, argv[0], &actions_, &attributes_, argv.data(), environ);
  }

private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

/// The read end of a child's output.
class OutputPipe {
public:
  explicit OutputPipe(int descriptor) : descriptor_(descriptor) {}
  ~OutputPipe() { ::close(descriptor_); }
  OutputPipe(const OutputPipe &) = delete;

  /// Reads until the end of the output. False if the deadline came first.
  bool drain(std::string &output, Clock::time_point deadline) {
    for (;;) {
      auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
      pollfd entry = {descriptor_, POLLIN, 0};
      int ready = poll(&entry, 1, static_cast<int>(std::clamp<long long>(left, 0, 1 << 30)));
      if (ready == 0) {
        return false;
      }
      char buffer[4096];
      ssize_t count = ready > 0 ? read(descriptor_, buffer, sizeof buffer) : -1;
      if (count > 0) {
        output.append(buffer, static_cast<size_t>(count));
      } else if (count == 0 || errno != EINTR) {
        return true;
      }
    }
  }

private:
  int descriptor_;
};
} // namespace

/// Waits for the end of a child that has closed its output. False if the deadline came first.
static bool waitUntil(pid_t child, int &status, Clock::time_point deadline) {
  for (;;) {
    pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child || (ended < 0 && errno != EINTR)) {
      return true;
    }
    if (Clock::now() >= deadline) {
      return false;
    }
    usleep(500);
  }
}

static void killGroup(pid_t child, int &status) {
  kill(-child, SIGKILL);
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
}

Result<ChildResult> runChild(const std::vector<std::string> &arguments, std::chrono::milliseconds deadline) {
  Clock::time_point end = Clock::now() + deadline;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    return unavailable(std::string("no pipe for a child process: ") + std::strerror(errno));
  }
  OutputPipe pipe(ends[0]);
  pid_t child = 0;
  int error = SpawnPlan(ends[1]).spawn(child, arguments);
  ::close(ends[1]);
  if (error != 0) {
    return unavailable("cannot start " + arguments.front() + ": " + std::strerror(error));
  }

  ChildResult result;
  int status = 0;
  if (!pipe.drain(result.output, end) || !waitUntil(child, status, end)) {
    killGroup(child, status);
    return Status(StatusCode::DeadlineExceeded,
                  arguments.front() + " was killed after " + std::to_string(deadline.count()) + " ms")
        .withToolOutput(std::move(result.output));
  }
  result.exitCode = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  return result;
}

} // namespace jitk::nvidia
