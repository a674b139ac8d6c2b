// Roles of a warp-specialized kernel: programs that run at the same time on warps of their own.

#pragma once

#include "src/kernels/vocabulary/KernelBuilder.h"

namespace jitk::kernels {

/// One role. Its body may use any value that stands before `specialize`; roles talk through rings and other barriers in
/// shared memory alone.
struct Role {
  unsigned numWarps = 4;
  unsigned registers = 0; ///< of a thread; 0: what the kernel starts with. A multiple of 8
  llvm::function_ref<void()> body;
};

/// Runs the roles side by side and goes on when all have ended. The first one takes the kernel's own warps and what
/// registers the others leave; warps are added for each of the others.
void specialize(KernelBuilder &builder, llvm::ArrayRef<Role> roles);

} // namespace jitk::kernels
