#include "src/passes/layouts/TargetCapability.h"

#include "src/ir/ttg/Ttg.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;

namespace jitk::passes {

LogicalResult verifyThreads(ModuleOp module) {
  constexpr int kMostWarps = 32, kLanes = 32, kMostCtas = 16;
  auto verify = [](Operation *at, StringRef name, int found, int least, int most) -> LogicalResult {
    if (found >= least && found <= most && llvm::isPowerOf2_32(found)) {
      return success();
    }
    InFlightDiagnostic error = at->emitError(name) << " must be ";
    if (least != most) {
      error << "a power of two from " << least << " to ";
    }
    return error << most << ": got " << found;
  };
  auto verifyWarps = [&](Operation *at) {
    return verify(at, ir::ttg::kNumWarps, ir::ttg::lookupNumWarps(at), 1, kMostWarps);
  };
  Operation *op = module;
  return success(succeeded(verifyWarps(op)) &&
                 succeeded(verify(op, ir::ttg::kThreadsPerWarp, ir::ttg::lookupThreadsPerWarp(op), kLanes, kLanes)) &&
                 succeeded(verify(op, ir::ttg::kNumCTAs, ir::ttg::lookupNumCTAs(op), 1, kMostCtas)) &&
                 llvm::all_of(module.getOps<FunctionOpInterface>(),
                              [&](FunctionOpInterface function) { return succeeded(verifyWarps(function)); }));
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
