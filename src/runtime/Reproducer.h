// Reproducers: what it takes to see a failed compilation again, in one file.
//
//   // jitk reproducer
//   // description: matmul b_layout=row ...
//   // target: sm_90a
//   // build: 1f0c...
//   // failure: INVALID_ARGUMENT: ...
//   // again: jitk inspect --reproducer FILE, or, without its lines of CUDA C++, jitk-opt --run-reproducer FILE
//   module { ... }        and the pipeline; or the source in CUDA C++
//
// The compilation is done again from the description. What follows is there for those who look for the fault.

#pragma once

#include "src/runtime/Compiler.h"
#include "src/runtime/Problem.h"
#include "src/support/Status.h"

#include <string>

namespace jitk {

/// Writes the file for a failed compilation into `folder`, which is made if it is not there, under a name that the
/// problem and the target give. Returns its path. The compiler is asked for what it began with; where it fails at that
/// too, and where it has outrun its limit, the file goes without. Unavailable if the file cannot be written.
Result<std::string> writeReproducer(const std::string &folder, const Problem &problem, const Target &target,
                                    const Status &failure, Compiler &compiler);

} // namespace jitk
