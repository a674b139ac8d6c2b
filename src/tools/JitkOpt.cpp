// jitk-opt: the usual MLIR driver with jitk's dialects and passes.

#include "src/ir/ptx/Ptx.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<mlir::arith::ArithDialect, mlir::cf::ControlFlowDialect, mlir::gpu::GPUDialect,
                  mlir::LLVM::LLVMDialect, mlir::math::MathDialect, mlir::scf::SCFDialect, mlir::ub::UBDialect>();
  registry.insert<jitk::ir::ptx::PtxDialect>();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "jitk optimizer\n", registry));
}
