// The pass `lower-ptx-for-emulator`.

#pragma once

#include "mlir/Pass/Pass.h"

#include <memory>

namespace jitk::emulator {

/// Rewrites a module of the LLVM and ptx dialects so that the host can run it. Stands last, in the place where the
/// NVPTX path turns ptx operations into inline assembly; nothing before it knows of the emulator.
///
/// Every function defined in the module gets a leading pointer argument, the thread that executes it, which calls hand
/// on. Each `ptx.inst` becomes a call of `jitk_emulator_execute` with its operands and results in memory. Integer
/// divisions that would trap on the host do not. Attributes of the NVVM dialect are dropped. Indirect calls are
/// refused.
std::unique_ptr<mlir::Pass> createLowerPtxForEmulatorPass();

void registerLowerPtxForEmulatorPass();

} // namespace jitk::emulator
