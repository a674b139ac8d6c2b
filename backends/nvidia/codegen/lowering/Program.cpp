// Where the program is in the grid, and what memory it has there.

#include "backends/nvidia/codegen/lowering/FunctionLowering.h"

using namespace mlir;
using namespace jitk::ir;

namespace jitk::nvidia {

static std::string axisName(tt::ProgramIDDim axis) { return std::string(1, char('x' + int(axis))); }

/// A program is a cluster: its CTAs, numbered along x, work on one tile.
static LogicalResult lowerProgramId(tt::GetProgramIdOp op, FunctionLowering &f) {
  bool ofCluster = f.target().numCtas > 1 && op.getAxis() == tt::ProgramIDDim::X;
  f.set(op, f.builder().instValue((ofCluster ? "sreg.clusterid." : "sreg.ctaid.") + axisName(op.getAxis())));
  return success();
}

static LogicalResult lowerNumPrograms(tt::GetNumProgramsOp op, FunctionLowering &f) {
  bool ofClusters = f.target().numCtas > 1 && op.getAxis() == tt::ProgramIDDim::X;
  f.set(op, f.builder().instValue((ofClusters ? "sreg.nclusterid." : "sreg.nctaid.") + axisName(op.getAxis())));
  return success();
}

/// The CTA's part of the scratch memory, by its number in the grid.
static LogicalResult lowerGlobalScratch(ttg::GlobalScratchAllocOp op, FunctionLowering &f) {
  LoweringBuilder &b = f.builder();
  auto size = op->getParentOfType<ModuleOp>()->getAttrOfType<IntegerAttr>("ttg.global_scratch_memory_size");
  auto offset = op->getAttrOfType<IntegerAttr>("ttg.global_scratch_memory_offset");
  if (!size || !offset) {
    return op.emitOpError("has no place: global scratch is allocated before the lowering");
  }
  Value number = b.mul(b.instValue("sreg.ctaid.z"), b.instValue("sreg.nctaid.y"));
  number = b.add(number, b.instValue("sreg.ctaid.y"));
  number = b.add(b.mul(number, b.instValue("sreg.nctaid.x")), b.instValue("sreg.ctaid.x"));
  Value bytes = b.mul(b.resizeUnsigned(number, b.getI64Type()), size.getInt());
  f.set(op, b.offsetPointer(f.globalScratch(), b.add(bytes, offset.getInt())));
  return success();
}

void populateProgramLowerings(LoweringTable &table) {
  table.add(lowerProgramId);
  table.add(lowerNumPrograms);
  table.add(lowerGlobalScratch);
}

} // namespace jitk::nvidia
