#include "backends/nvidia/codegen/lowering/Dots.h"

using namespace mlir;
using namespace jitk::ir;

namespace jitk::nvidia {

static LogicalResult lowerDot(tt::DotOp op, FunctionLowering &f) {
  auto type = cast<RankedTensorType>(op.getType());
  return isa<ttg::NvidiaMmaEncodingAttr>(type.getEncoding()) ? lowerMmaDot(op, f) : lowerFmaDot(op, f);
}

void populateDotLowerings(LoweringTable &table) { table.add(lowerDot); }

} // namespace jitk::nvidia
