// Kernels in CUDA C++: NVRTC, then an assembler. No MLIR.

#pragma once

#include "backends/nvidia/codegen/Assembler.h"
#include "backends/nvidia/codegen/Nvrtc.h"
#include "src/ops/UserKernel.h"
#include "src/runtime/Compiler.h"

namespace jitk::compiler {

/// Compiles a kernel whose language is Cuda. Fails with InvalidArgument, and NVRTC's log as the tool's output, where
/// the source is wrong, or where the kernel does not take the arguments that are declared.
Result<CompiledKernel> compileCuda(const UserKernel &kernel, const Target &target, const nvidia::CudaCompiler &compiler,
                                   const nvidia::Assembler &assembler);

} // namespace jitk::compiler
