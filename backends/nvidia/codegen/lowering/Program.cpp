// Where the program is in the grid.

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

void populateProgramLowerings(LoweringTable &table) {
  table.add(lowerProgramId);
  table.add(lowerNumPrograms);
}

} // namespace jitk::nvidia
