#include "backends/nvidia/codegen/lowering/LoweringTable.h"

#include "backends/nvidia/codegen/lowering/FunctionLowering.h"

using namespace mlir;

namespace jitk::nvidia {

LogicalResult LoweringTable::lower(Operation *op, FunctionLowering &f) const {
  auto it = entries_.find(op->getName().getTypeID());
  if (it == entries_.end()) {
    return op->emitOpError("cannot be lowered to LLVM");
  }
  return it->second.call(it->second.lower, op, f);
}

const LoweringTable &LoweringTable::get() {
  static const LoweringTable table = [] {
    LoweringTable built;
    populateAssertLowerings(built);
    populateAsyncCopyLowerings(built);
    populateAtomicLowerings(built);
    populateBarrierLowerings(built);
    populateBufferViewLowerings(built);
    populateConstantLowerings(built);
    populateControlFlowLowerings(built);
    populateConvertLayoutLowerings(built);
    populateDotLowerings(built);
    populateElementwiseLowerings(built);
    populateFenceLowerings(built);
    populateFloatConversionLowerings(built);
    populateFunctionLowerings(built);
    populateGatherLowerings(built);
    populateInlineAsmLowerings(built);
    populateLoadStoreLowerings(built);
    populateMapElementwiseLowerings(built);
    populateMathLowerings(built);
    populateMbarrierLowerings(built);
    populatePrintLowerings(built);
    populateProgramLowerings(built);
    populateReduceLowerings(built);
    populateScanLowerings(built);
    populateSharedMemoryLowerings(built);
    populateTensorCopyLowerings(built);
    populateTensormapLowerings(built);
    populateViewLowerings(built);
    populateWarpAnyLowerings(built);
    populateWarpGroupDotLowerings(built);
    populateWarpSpecializeLowerings(built);
    return built;
  }();
  return table;
}

} // namespace jitk::nvidia
