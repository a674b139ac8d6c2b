#include "src/passes/layouts/TargetCapability.h"

#include "src/ir/ttg/Ttg.h"

using namespace mlir;

namespace jitk::passes {

LogicalResult verifyThreads(ModuleOp module) {
  constexpr int kMostWarps = 32, kLanes = 32, kMostCtas = 16;
  auto verify = [&](StringRef name, int found, int least, int most) -> LogicalResult {
    if (found >= least && found <= most && llvm::isPowerOf2_32(found)) {
      return success();
    }
    InFlightDiagnostic error = module.emitError(name) << " must be ";
    if (least != most) {
      error << "a power of two from " << least << " to ";
    }
    return error << most << ": got " << found;
  };
  Operation *op = module;
  return success(succeeded(verify(ir::ttg::kNumWarps, ir::ttg::lookupNumWarps(op), 1, kMostWarps)) &&
                 succeeded(verify(ir::ttg::kThreadsPerWarp, ir::ttg::lookupThreadsPerWarp(op), kLanes, kLanes)) &&
                 succeeded(verify(ir::ttg::kNumCTAs, ir::ttg::lookupNumCTAs(op), 1, kMostCtas)));
}

FailureOr<unsigned> targetCapability(ModuleOp module) {
  if (failed(verifyThreads(module))) {
    return failure();
  }
  auto target = module->getAttrOfType<StringAttr>(ir::ttg::kTarget);
  StringRef text = target ? target.getValue() : StringRef();
  unsigned capability = 0;
  if (!text.consume_front("cuda:") || text.getAsInteger(10, capability)) {
    return module.emitError("needs the module attribute ttg.target = \"cuda:<capability>\": got ") << target;
  }
  return capability;
}

} // namespace jitk::passes
