#include "src/passes/layouts/LayoutRules.h"

#include "src/ir/ttg/InferEncodings.h"
#include "src/ir/ttg/Ttg.h"
#include "src/ir/ttng/Ttng.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace jitk::passes {
using namespace jitk::ir;

bool isElementwise(Operation *op) {
  // A wait for products hands its accumulator through.
  return op->hasTrait<OpTrait::Elementwise>() || isa<tt::MapElementwiseOp, tt::ScanOp, ttng::WarpGroupDotWaitOp>(op);
}

bool isRemakable(Operation *op) {
  if (op->getNumResults() != 1 || op->getNumRegions() != 0) {
    return false;
  }
  if (isa<ttg::LocalLoadOp, tt::MakeRangeOp, tt::SplatOp, tt::ExpandDimsOp, tt::BroadcastOp, tt::TransOp, tt::ReshapeOp,
          tt::JoinOp>(op)) {
    return true;
  }
  return (op->hasTrait<OpTrait::ConstantLike>() || isElementwise(op)) && isMemoryEffectFree(op);
}

static ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

static SmallVector<int32_t> inverse(ArrayRef<int32_t> order) {
  SmallVector<int32_t> inverted(order.size());
  for (auto [to, from] : llvm::enumerate(order)) {
    inverted[from] = int32_t(to);
  }
  return inverted;
}

Attribute resultLayout(OpOperand &operand, Attribute layout) {
  Operation *op = operand.getOwner();
  ArrayRef<int64_t> shape = shapeOf(operand.get());
  return TypeSwitch<Operation *, Attribute>(op)
      .Case([&](tt::ReduceOp reduce) {
        return shape.size() > 1 ? ttg::inferReduceEncoding(layout, reduce.getAxis()) : Attribute();
      })
      .Case([&](tt::ExpandDimsOp expand) {
        return ttg::inferExpandDimsEncoding(layout, expand.getAxis()).value_or(Attribute());
      })
      .Case([&](tt::BroadcastOp) { return layout; })
      .Case([&](tt::TransOp transpose) { return ttg::inferTransEncoding(shape, layout, transpose.getOrder()); })
      .Case([&](tt::ReshapeOp reshape) { return ttg::inferReshapeEncoding(shape, layout, shapeOf(reshape)); })
      .Case([&](tt::JoinOp) { return ttg::inferJoinEncoding(shape, layout); })
      .Case([&](tt::SplitOp) { return ttg::inferSplitEncoding(shape, layout).value_or(Attribute()); })
      .Case([&](tt::GatherOp) { return operand.getOperandNumber() == 1 ? layout : Attribute(); })
      .Default([&](Operation *) { return isElementwise(op) ? layout : Attribute(); });
}

Attribute operandLayout(OpOperand &operand, Attribute layout) {
  Operation *op = operand.getOwner();
  ArrayRef<int64_t> shape = shapeOf(operand.get());
  return TypeSwitch<Operation *, Attribute>(op)
      .Case([&](tt::ExpandDimsOp expand) { return ttg::SliceEncodingAttr::get(expand.getAxis(), layout); })
      .Case([&](tt::BroadcastOp) { return layout; })
      .Case([&](tt::TransOp transpose) {
        return ttg::inferTransEncoding(shapeOf(transpose), layout, inverse(transpose.getOrder()));
      })
      .Case([&](tt::ReshapeOp reshape) { return ttg::inferReshapeEncoding(shapeOf(reshape), layout, shape); })
      .Case([&](tt::JoinOp join) { return ttg::inferSplitEncoding(shapeOf(join), layout).value_or(Attribute()); })
      .Case([&](tt::SplitOp split) { return ttg::inferJoinEncoding(shapeOf(split.getOutLHS()), layout); })
      .Case([&](tt::GatherOp) { return operand.getOperandNumber() == 1 ? layout : Attribute(); })
      .Default([&](Operation *) { return isElementwise(op) ? layout : Attribute(); });
}

} // namespace jitk::passes
