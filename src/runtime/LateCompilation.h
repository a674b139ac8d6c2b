// LateCompilation: a compilation that no preparation asked for, as an engine that serves wants to hear of it.

#pragma once

#include "src/runtime/Problem.h"
#include "src/runtime/Target.h"
#include "src/support/Status.h"

#include <cstdint>
#include <functional>
#include <string>

namespace jitk {

/// Who wanted a kernel. The values but the first are those of `jitk_cause_t`.
enum class Cause : uint8_t {
  Preparation = 0,
  Requested = 1,  ///< it was asked for by itself
  Missed = 2,     ///< a plan had not prepared it, and the caller waits
  Background = 3, ///< a plan had not prepared it, and a worker makes it
};

/// Lives for the length of the callback.
struct LateCompilation {
  Cause cause;
  const Status &status; ///< of the compilation
  const std::string &key;
  const Problem &problem;
  const Target &target;
  double milliseconds;
};

/// Called on the thread that compiled, by several at a time; empty = nobody wants to know.
using LateCompilationCallback = std::function<void(const LateCompilation &)>;

} // namespace jitk
