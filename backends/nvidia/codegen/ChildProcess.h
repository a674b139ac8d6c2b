// A child process with a deadline.

#pragma once

#include "src/support/Status.h"

#include <chrono>
#include <string>
#include <vector>

namespace jitk::nvidia {

struct ChildResult {
  int exitCode = 0;   ///< or the negative number of the signal that ended it
  std::string output; ///< stdout and stderr as they came
};

/// Runs a program and waits for its end. `arguments[0]` is the program's path. The child has a process group of its
/// own, which is killed at the deadline with all that it started; then the failure is DeadlineExceeded and carries the
/// output so far. Unavailable if the program cannot be started. Thread-safe; leaves no zombie.
Result<ChildResult> runChild(const std::vector<std::string> &arguments, std::chrono::milliseconds deadline);

} // namespace jitk::nvidia
