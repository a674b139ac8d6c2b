// jitk-opt: the usual MLIR driver with jitk's dialects and passes.

#include "src/ir/Register.h"
#include "src/passes/Passes.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  jitk::ir::registerDialects(registry);
  mlir::registerTransformsPasses();
  jitk::passes::registerPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "jitk optimizer\n", registry));
}
