// jitk-opt: the usual MLIR driver with jitk's dialects and passes, and the check that a kernel's text passes first.

#include "backends/nvidia/codegen/ConvertPtxToLlvm.h"
#include "backends/nvidia/codegen/Passes.h"
#include "src/compiler/Pipelines.h"
#include "src/emulator/LowerPtxForEmulator.h"
#include "src/ir/Register.h"
#include "src/ir/TextCheck.h"
#include "src/passes/Passes.h"

#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/ToolOutputFile.h"

static int fail(const std::string &message) {
  llvm::errs() << "jitk-opt: " << message << "\n";
  return EXIT_FAILURE;
}

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
  auto [inputName, outputName] = mlir::registerAndParseCLIOptions(argc, argv, "jitk optimizer\n", registry);
  llvm::InitLLVM init(argc, argv);
  std::string message;
  std::unique_ptr<llvm::MemoryBuffer> input = mlir::openInputFile(inputName, &message);
  std::unique_ptr<llvm::ToolOutputFile> output = input ? mlir::openOutputFile(outputName, &message) : nullptr;
  if (!output) {
    return fail(message);
  }
  if (jitk::Status checked = jitk::ir::checkText(input->getBuffer()); !checked.ok()) {
    return fail(checked.toString());
  }
  if (failed(mlir::MlirOptMain(output->os(), std::move(input), registry,
                               mlir::MlirOptMainConfig::createFromCLOptions()))) {
    return EXIT_FAILURE;
  }
  output->keep();
  return EXIT_SUCCESS;
}
