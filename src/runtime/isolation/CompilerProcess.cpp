#include "src/runtime/isolation/CompilerProcess.h"

#include "src/runtime/isolation/Messages.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace jitk {

using Clock = std::chrono::steady_clock;

// Of what a dying process prints, the end is what matters.
static constexpr off_t kPrintedBytes = 16 * 1024;

/// Spawns with a process group of its own, which the engine's terminal does not interrupt, and with no signal blocked
/// or ignored.
static int spawn(pid_t &process, std::vector<std::string> arguments, int socket, int output) {
  std::vector<char *> argv;
  for (std::string &argument : arguments) {
    argv.push_back(argument.data());
  }
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
  posix_spawn_file_actions_adddup2(&actions, socket, kCompilerSocket);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  int error = ::posix_spawn(&process, argv[0], &actions, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

Result<std::unique_ptr<CompilerProcess>> CompilerProcess::start(const CompilerProcessOptions &options) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return unavailable("cannot make a socket for a compiler process: " + describeErrno(errno)).atStage("compile");
  }
  File ours(ends[0]), theirs(ends[1]);
  File output(::memfd_create("jitk-compiler", MFD_CLOEXEC));
  if (!output) {
    return unavailable("cannot keep what a compiler process prints: " + describeErrno(errno)).atStage("compile");
  }
  pid_t process = 0;
  int error = spawn(process, {options.program, options.library, options.buildId, std::to_string(options.memoryBytes)},
                    theirs.descriptor(), output.descriptor());
  if (error != 0) {
    return unavailable("cannot start the compiler process " + options.program + ": " + describeErrno(error))
        .atStage("compile");
  }
  return std::unique_ptr<CompilerProcess>(new CompilerProcess(options, process, std::move(ours), std::move(output)));
}

CompilerProcess::~CompilerProcess() {
  if (process_ != 0) {
    // An idle process ends by itself when its socket closes; one at work is not waited for.
    socket_ = File();
    if (working_) {
      kill();
    }
    (void)reap();
  }
}

void CompilerProcess::kill() { (void)::kill(-process_, SIGKILL); }

int CompilerProcess::reap() {
  int status = 0;
  while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
  }
  process_ = 0;
  return status;
}

bool CompilerProcess::alive() {
  pollfd waiting = {socket_.descriptor(), POLLIN, 0};
  return process_ != 0 && ::poll(&waiting, 1, 0) == 0;
}

std::string CompilerProcess::printed() const {
  off_t size = ::lseek(output_.descriptor(), 0, SEEK_END);
  off_t begin = size > kPrintedBytes ? size - kPrintedBytes : 0;
  std::string text(static_cast<size_t>(size < 0 ? 0 : size - begin), '\0');
  ssize_t got = ::pread(output_.descriptor(), text.data(), text.size(), begin);
  text.resize(static_cast<size_t>(got < 0 ? 0 : got));
  return text;
}

Status CompilerProcess::ended(int status) const {
  std::string output = printed();
  bool exited = WIFEXITED(status);
  bool outOfMemory = (exited && WEXITSTATUS(status) == kExitOutOfMemory) ||
                     // How LLVM ends where malloc gives nothing.
                     (WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT &&
                      output.find("LLVM ERROR: out of memory") != std::string::npos);
  Status failure;
  if (outOfMemory) {
    failure = Status(StatusCode::OutOfMemory, options_.memoryBytes == 0
                                                  ? std::string("compiler process ran out of memory")
                                                  : "compiler process needed more than its bound of " +
                                                        std::to_string(options_.memoryBytes) + " bytes");
  } else if (exited) {
    failure = unavailable("compiler process must not exit: got exit status " + std::to_string(WEXITSTATUS(status)));
  } else {
    failure = internalError("compiler process crashed: signal " + std::to_string(WTERMSIG(status)) + " (" +
                            ::strsignal(WTERMSIG(status)) + ")");
  }
  return std::move(failure).atStage("compile").withToolOutput(std::move(output));
}

Result<std::vector<uint8_t>> CompilerProcess::ask(std::span<const uint8_t> request) {
  working_ = true;
  Clock::time_point deadline = Clock::now() + options_.timeLimit;
  // What cannot be sent has the same reason as an answer that does not come.
  (void)sendMessage(socket_.descriptor(), request);
  while (true) {
    int left = -1;
    if (options_.timeLimit.count() > 0) {
      left = static_cast<int>(
          std::max<int64_t>(0, std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count()));
    }
    pollfd waiting = {socket_.descriptor(), POLLIN, 0};
    int ready = ::poll(&waiting, 1, left);
    if (ready < 0 && errno == EINTR) {
      continue;
    }
    if (ready == 0) {
      kill();
      (void)reap();
      return Status(StatusCode::DeadlineExceeded,
                    "compiler process outran its limit of " + std::to_string(options_.timeLimit.count()) + " ms")
          .atStage("compile")
          .withToolOutput(printed());
    }
    break;
  }
  std::vector<uint8_t> reply;
  if (!receiveMessage(socket_.descriptor(), reply)) {
    kill(); // it may have closed the socket and go on
    return ended(reap());
  }
  working_ = false;
  return reply;
}

} // namespace jitk
