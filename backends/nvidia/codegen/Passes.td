// The passes of the NVIDIA code generator.

#ifndef JITK_NVIDIA_CODEGEN_PASSES_TD
#define JITK_NVIDIA_CODEGEN_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertTtgirToLlvm : Pass<"convert-ttgir-to-llvm", "mlir::ModuleOp"> {
  let summary = "Lower TTGIR to the LLVM and ptx dialects";
  let description = [{
    Every `tt.func` becomes an `llvm.func`; public ones are kernels. Each tensor becomes the registers that one thread holds
    of it, by its linear layout. Nothing of the dialects `tt`, `ttg`, `ttng`, `arith`, `math`, `cf` is left.

    Kernels take the registers of their arguments in order, then two pointers to global memory: scratch and profile
    scratch. Tensor descriptors are 128-byte tensor maps passed by value. The module keeps `ttg.shared`, the bytes of
    dynamic shared memory.

    After --jitk-allocate-shared-memory, --jitk-insert-barriers and the conversion of scf to cf.
  }];
  let dependentDialects = ["mlir::LLVM::LLVMDialect", "jitk::ir::ptx::PtxDialect"];
}

#endif
