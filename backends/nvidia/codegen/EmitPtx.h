// LLVM dialect to PTX text.

#pragma once

#include "src/runtime/Target.h"
#include "src/support/Status.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace jitk::nvidia {

struct EmitPtxOptions {
  bool keepLlvm = false; ///< fill PtxModule::llvmIr
};

struct PtxModule {
  std::string ptx;
  unsigned version = 0; ///< of the PTX ISA: 80 is 8.0; the least that has every instruction used
  std::string llvmIr;   ///< optimized; empty unless asked for
};

/// Translates a module of the LLVM and ptx dialects. Kernels are functions with `nvvm.kernel`; `nvvm.reqntid`,
/// `nvvm.maxnreg` and `nvvm.cluster_dim` are honoured. Changes the module: no ptx operation is left in it.
///
/// Floating-point multiplications and additions are contracted. Unsupported where the target lacks an instruction.
/// Thread-safe for modules of different contexts; sets LLVM's process-wide options for NVPTX on the first call.
Result<PtxModule> emitPtx(mlir::ModuleOp module, const Target &target, const EmitPtxOptions &options = {});

} // namespace jitk::nvidia
