// How long each stage of a compilation takes.

#pragma once

#include "src/runtime/Compiler.h"

#include "perf/overhead/Samples.h"

#include <optional>
#include <string>

namespace jitk::perf {

/// Milliseconds. "Own" is all but the assembler.
struct CompileTimes {
  std::string description, target, assembler;
  Samples build, lower, llvm, assemble, own;
  /// The thread's processor time for the own stages, which does not grow with the machine's load. Absent where the
  /// assembler runs in this thread and cannot be told from them.
  std::optional<Samples> ownCpu;
  KernelStatistics kernel;
  size_t ptxBytes = 0;
};

/// Compiles `count` times after one time that warms up. Prefers an assembler that runs in a child.
Result<CompileTimes> measureCompileTimes(Compiler &compiler, const std::string &description, const std::string &target,
                                         int count);

} // namespace jitk::perf
