// What a target can execute, decided before code generation: LLVM ends the process on an instruction that it cannot
// select, and an assembler's message names neither the operation nor its location.

#pragma once

#include "src/runtime/Target.h"
#include "src/support/Status.h"

#include "mlir/IR/BuiltinOps.h"

namespace llvm {
class Module;
} // namespace llvm

namespace jitk::nvidia {

/// The least PTX version that knows the architecture: 80 (PTX 8.0) for sm_90a. Unsupported for an architecture that
/// this backend does not generate code for.
Result<unsigned> leastPtxVersion(const Target &target);

/// The PTX version that knows every instruction which a kernel for that architecture may have.
Result<unsigned> greatestPtxVersion(const Target &target);

/// Checks that the target has every `ptx.inst` of the module, and returns the least PTX version that knows all of
/// them and the target. Unsupported names the first form that the target lacks, what it needs, and where it stands.
Result<unsigned> gateInstructions(mlir::ModuleOp module, const Target &target);

/// Checks, after optimization, that no call is left that NVPTX could not select: external functions other than those
/// of the device's runtime, and mathematical intrinsics that have no instruction.
Status gateCalls(const llvm::Module &module);

} // namespace jitk::nvidia
