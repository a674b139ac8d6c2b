// Roles of a warp-specialized kernel: programs that run at the same time on warps of their own.

#pragma once

#include "src/kernels/vocabulary/KernelBuilder.h"

namespace jitk::kernels {

/// One role. Its body may use any value that stands before `specialize`; roles talk through rings and other barriers in
/// shared memory alone.
struct Role {
  unsigned numWarps = 4;  ///< of each replica
  unsigned replicas = 1;  ///< so many groups of warps run the one body, each with a `replicaId` of its own
  unsigned registers = 0; ///< of a thread; 0: what the kernel starts with. A multiple of 8
  llvm::function_ref<void()> body;
};

/// Runs the roles side by side and goes on when all have ended. The first one takes the kernel's own warps and what
/// registers the others leave; warps are added for each of the others. If the first one has replicas, the kernel's
/// warps are its first replica, its registers are those it asks for, and the kernel ends with the roles.
void specialize(KernelBuilder &builder, llvm::ArrayRef<Role> roles);

/// In the body of a role: the number of the replica that executes it, i32.
mlir::Value replicaId(KernelBuilder &builder);

} // namespace jitk::kernels
