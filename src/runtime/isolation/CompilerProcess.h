// CompilerProcess: one `jitk-compiler`, which compiles one kernel at a time and may die of it.

#pragma once

#include "src/store/File.h"
#include "src/support/Status.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <sys/types.h>
#include <vector>

namespace jitk {

struct CompilerProcessOptions {
  std::string program;                    ///< path of `jitk-compiler`
  std::string library;                    ///< path of the compiler library; empty = where the program finds it
  std::string buildId;                    ///< what the library's must be
  uint64_t memoryBytes = 0;               ///< bound on the process's address space; 0 = none
  std::chrono::milliseconds timeLimit{0}; ///< for one answer; 0 = none
};

/// The socket of the process, as it finds it.
inline constexpr int kCompilerSocket = 3;
/// How it exits where memory ended.
inline constexpr int kExitOutOfMemory = 86;

/// For one thread at a time.
class CompilerProcess {
public:
  /// Starts the program; does not wait for it. Never forks: the engine may be large. Unavailable if it cannot start.
  static Result<std::unique_ptr<CompilerProcess>> start(const CompilerProcessOptions &options);
  /// Lets the process go; kills it if it is at work.
  ~CompilerProcess();

  /// Asks and waits. After a failure the process is gone: DeadlineExceeded if it outran its limit, OutOfMemory if it
  /// hit its bound, Internal if it crashed, with what it printed as the tool's output.
  Result<std::vector<uint8_t>> ask(std::span<const uint8_t> request);
  /// False if it died while nothing was asked of it.
  bool alive();

private:
  CompilerProcess(const CompilerProcessOptions &options, pid_t process, File socket, File output)
      : options_(options), process_(process), socket_(std::move(socket)), output_(std::move(output)) {}
  void kill();
  int reap();
  Status ended(int status) const;
  std::string printed() const;

  const CompilerProcessOptions &options_;
  pid_t process_; ///< 0: gone
  File socket_;
  File output_; ///< what the process writes to its standard output and error
  bool working_ = false;
};

} // namespace jitk
