// Pass `convert-ptx-to-llvm`: target instructions become inline PTX or intrinsics.

#pragma once

#include "mlir/Pass/Pass.h"

#include <memory>

namespace jitk::nvidia {

/// Name of the symbol that stands for a kernel's dynamic shared memory.
inline constexpr llvm::StringLiteral dynamicSharedSymbol = "global_smem";

/// Runs on a module of the LLVM and ptx dialects and leaves no ptx operation. It stands last before the translation to
/// LLVM IR, since inline text hides what an instruction does from every pass. Instructions that the target lacks must
/// have been refused before (InstructionGate.h).
std::unique_ptr<mlir::Pass> createConvertPtxToLlvmPass();

/// Makes the pass known to jitk-opt.
void registerConvertPtxToLlvmPass();

} // namespace jitk::nvidia
