// Reductions and scans.

#include "src/ir/tt/Tt.h"
#include "src/ir/ttg/InferEncodings.h"

namespace jitk::ir::tt {
using namespace mlir;

static SmallVector<Type> elementTypesOf(ValueRange tensors) {
  return llvm::map_to_vector(tensors, [](Value value) { return getElementTypeOrSelf(value.getType()); });
}

/// Checks that a combine region takes two elements of each operand and returns one of each.
static LogicalResult verifyCombineRegion(Operation *op, Region &region, ArrayRef<Type> elementTypes) {
  SmallVector<Type> arguments(elementTypes);
  llvm::append_range(arguments, elementTypes);
  if (TypeRange(region.getArgumentTypes()) != TypeRange(arguments)) {
    return op->emitOpError("combine region must take two elements of each operand");
  }
  Operation *terminator = region.front().getTerminator();
  if (TypeRange(terminator->getOperandTypes()) != TypeRange(elementTypes)) {
    return op->emitOpError("combine region must return one element of each operand");
  }
  return success();
}

static LogicalResult verifyAxis(Operation *op, ValueRange srcs, unsigned axis) {
  if (srcs.empty()) {
    return op->emitOpError("needs at least one operand");
  }
  int64_t rank = cast<RankedTensorType>(srcs.front().getType()).getRank();
  if (axis >= rank) {
    return op->emitOpError("axis must be less than the rank ") << rank << ": got " << axis;
  }
  return success();
}

// --- reduce

void ReduceOp::build(OpBuilder &builder, OperationState &state, ValueRange srcs, int axis) {
  SmallVector<Type> types;
  state.addOperands(srcs);
  state.getOrAddProperties<Properties>().setAxis(builder.getI32IntegerAttr(axis));
  state.addRegion();
  if (succeeded(inferReturnTypes(builder.getContext(), state.location, srcs, DictionaryAttr(),
                                 OpaqueProperties(&state.getOrAddProperties<Properties>()), {}, types))) {
    state.addTypes(types);
  }
}

LogicalResult ReduceOp::inferReturnTypes(MLIRContext *context, std::optional<Location>, ValueRange operands,
                                         DictionaryAttr attributes, OpaqueProperties properties, RegionRange regions,
                                         SmallVectorImpl<Type> &types) {
  unsigned axis = Adaptor(operands, attributes, properties, regions).getAxis();
  for (Value operand : operands) {
    auto type = cast<RankedTensorType>(operand.getType());
    if (axis >= type.getRank()) {
      return failure();
    }
    if (type.getRank() == 1) {
      types.push_back(type.getElementType());
      continue;
    }
    SmallVector<int64_t> shape(type.getShape());
    shape.erase(shape.begin() + axis);
    types.push_back(
        RankedTensorType::get(shape, type.getElementType(), ttg::inferReduceEncoding(type.getEncoding(), axis)));
  }
  return success();
}

LogicalResult ReduceOp::verify() { return verifyAxis(*this, getSrcs(), getAxis()); }
LogicalResult ReduceOp::verifyRegions() { return verifyCombineRegion(*this, getCombineOp(), getElementTypes()); }
SmallVector<Type> ReduceOp::getElementTypes() { return elementTypesOf(getSrcs()); }

// --- scan

void ScanOp::build(OpBuilder &builder, OperationState &state, ValueRange srcs, int axis, bool reverse) {
  build(builder, state, TypeRange(srcs), srcs, axis, reverse);
}

LogicalResult ScanOp::inferReturnTypes(MLIRContext *, std::optional<Location>, ValueRange operands, DictionaryAttr,
                                       OpaqueProperties, RegionRange, SmallVectorImpl<Type> &types) {
  llvm::append_range(types, operands.getTypes());
  return success();
}

LogicalResult ScanOp::verify() { return verifyAxis(*this, getSrcs(), getAxis()); }
LogicalResult ScanOp::verifyRegions() { return verifyCombineRegion(*this, getCombineOp(), getElementTypes()); }
SmallVector<Type> ScanOp::getElementTypes() { return elementTypesOf(getSrcs()); }

} // namespace jitk::ir::tt
