// A kernel of the engine's own that is given as CommonIR or TTGIR text.

#pragma once

#include "src/kernels/Kernel.h"
#include "src/ops/UserKernel.h"

namespace jitk::kernels {

/// Parses the text of `kernel`, which was read from `description`, and checks that it takes the arguments declared
/// there. What is wrong with the text itself is reported to the context as diagnostics, and given as InvalidArgument.
/// Fails with InvalidArgument too, naming the argument, where the two do not agree.
Result<BuiltKernel> parseIrKernel(const UserKernel &kernel, const Description &description, const Target &target,
                                  mlir::MLIRContext &context);

} // namespace jitk::kernels
