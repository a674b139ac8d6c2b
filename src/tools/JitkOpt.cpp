// jitk-opt: the usual MLIR driver with jitk's dialects and passes.

#include "src/ir/Register.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"

/// Makes the passes known to the command line. The room of passes fills it.
static void registerPasses() {}

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  jitk::ir::registerDialects(registry);
  registerPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "jitk optimizer\n", registry));
}
