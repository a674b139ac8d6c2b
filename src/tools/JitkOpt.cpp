// jitk-opt: the usual MLIR driver with jitk's dialects and passes.

#include "backends/nvidia/codegen/ConvertPtxToLlvm.h"
#include "backends/nvidia/codegen/Passes.h"
#include "src/compiler/Pipelines.h"
#include "src/emulator/LowerPtxForEmulator.h"
#include "src/ir/Register.h"
#include "src/passes/Passes.h"

#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  jitk::ir::registerDialects(registry);
  mlir::registerTransformsPasses();
  mlir::registerPass([] { return mlir::createSCFToControlFlowPass(); });
  jitk::passes::registerPasses();
  jitk::nvidia::registerNvidiaCodegenPasses();
  jitk::nvidia::registerConvertPtxToLlvmPass();
  jitk::compiler::registerPipelines();
  jitk::emulator::registerLowerPtxForEmulatorPass();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "jitk optimizer\n", registry));
}
