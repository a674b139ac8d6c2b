// LLVM dialect to host object code.

#pragma once

#include "src/support/Status.h"

#include "mlir/IR/BuiltinOps.h"

#include <cstdint>
#include <string>
#include <vector>

namespace jitk::emulator {

struct HostObject {
  std::vector<uint8_t> code; ///< a relocatable object for the host's architecture
  std::string llvmIr;        ///< optimized; empty unless asked for
};

/// Compiles a module of the LLVM and ptx dialects for the emulator. Kernels are functions with `nvvm.kernel`. Changes
/// the module. Thread-safe for modules of different contexts.
Result<HostObject> compileForHost(mlir::ModuleOp module, bool keepLlvm = false);

/// What the objects depend on besides the module: part of a kernel's key.
std::string hostCompilerIdentity();

} // namespace jitk::emulator
