#include "src/passes/layouts/TargetCapability.h"

#include "src/ir/ttg/Ttg.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;

namespace jitk::passes {

/// What is to be a number and is none would be taken for an attribute that is not there.
static LogicalResult verifyNumbers(Operation *at) {
  const StringRef names[] = {ir::ttg::kNumWarps,
                             ir::ttg::kThreadsPerWarp,
                             ir::ttg::kNumCTAs,
                             ir::ttg::kClusterDimX,
                             "ttg.total-num-warps",
                             "ttg.maxnreg",
                             "ttg.shared",
                             "ttg.global_scratch_memory_size",
                             "ttg.global_scratch_memory_alignment"};
  for (StringRef name : names) {
    if (Attribute found = at->getAttr(name); found && !isa<IntegerAttr>(found)) {
      return at->emitError(name) << " must be an integer: got " << found;
    }
  }
  return success();
}

/// The same of what a function says of its arguments.
static LogicalResult verifyHints(FunctionOpInterface function) {
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    for (StringRef name : {"tt.contiguity", "tt.divisibility", "tt.constancy"}) {
      Attribute found = function.getArgAttr(i, name);
      if (found && !isa<IntegerAttr, DenseIntElementsAttr, DenseI32ArrayAttr>(found)) {
        return function.emitError(name) << " of argument " << i << " must be an integer: got " << found;
      }
    }
  }
  return success();
}

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
    return success(succeeded(verifyNumbers(at)) &&
                   succeeded(verify(at, ir::ttg::kNumWarps, ir::ttg::lookupNumWarps(at), 1, kMostWarps)));
  };
  Operation *op = module;
  return success(succeeded(verifyWarps(op)) &&
                 succeeded(verify(op, ir::ttg::kThreadsPerWarp, ir::ttg::lookupThreadsPerWarp(op), kLanes, kLanes)) &&
                 succeeded(verify(op, ir::ttg::kNumCTAs, ir::ttg::lookupNumCTAs(op), 1, kMostCtas)) &&
                 llvm::all_of(module.getOps<FunctionOpInterface>(), [&](FunctionOpInterface function) {
                   return succeeded(verifyWarps(function)) && succeeded(verifyHints(function));
                 }));
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
