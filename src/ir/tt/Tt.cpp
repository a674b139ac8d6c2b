// The dialect, its types and what its ops share.

#include "src/ir/tt/Tt.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Transforms/InliningUtils.h"

#include "llvm/ADT/TypeSwitch.h"

#include "src/ir/tt/TtDialect.cpp.inc"
#include "src/ir/tt/TtEnums.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "src/ir/tt/TtTypes.cpp.inc"

#define GET_OP_CLASSES
#include "src/ir/tt/TtOps.cpp.inc"

namespace jitk::ir::tt {
using namespace mlir;

namespace {

struct TtInliner : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;

  bool isLegalToInline(Operation *call, Operation *callable, bool) const final {
    auto noinline = callable->getAttrOfType<BoolAttr>("noinline");
    return !noinline || !noinline.getValue();
  }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const final { return true; }
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final { return true; }

  void handleTerminator(Operation *op, Block *next) const final {
    if (auto ret = dyn_cast<ReturnOp>(op)) {
      OpBuilder builder(op);
      cf::BranchOp::create(builder, op->getLoc(), next, ret.getSrcs());
      op->erase();
    }
  }
  void handleTerminator(Operation *op, ValueRange replaced) const final {
    for (auto [old, value] : llvm::zip_equal(replaced, cast<ReturnOp>(op).getSrcs())) {
      old.replaceAllUsesWith(value);
    }
  }
};

} // namespace

void TtDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "src/ir/tt/TtTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "src/ir/tt/TtOps.cpp.inc"
      >();
  addInterfaces<TtInliner>();
}

Operation *TtDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type, Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}

// --- Types

Type PointerType::parse(AsmParser &parser) {
  Type pointee;
  int addressSpace = 1;
  if (parser.parseLess() || parser.parseType(pointee)) {
    return {};
  }
  if (succeeded(parser.parseOptionalComma()) && parser.parseInteger(addressSpace)) {
    return {};
  }
  if (parser.parseGreater()) {
    return {};
  }
  return get(pointee, addressSpace);
}

void PointerType::print(AsmPrinter &printer) const {
  printer << '<' << getPointeeType();
  if (getAddressSpace() != 1) {
    printer << ", " << getAddressSpace();
  }
  printer << '>';
}

RankedTensorType TensorDescType::getSignlessBlockType() const {
  auto block = getBlockType();
  auto integer = dyn_cast<IntegerType>(block.getElementType());
  if (!integer || integer.isSignless()) {
    return block;
  }
  return block.clone(IntegerType::get(getContext(), integer.getWidth()));
}

// --- What ops share

static Type withElementType(Type type, Type elementType) {
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    return tensor.clone(elementType);
  }
  return elementType;
}

Type getPointeeType(Type type) {
  auto pointer = dyn_cast<PointerType>(getElementTypeOrSelf(type));
  return pointer ? withElementType(type, pointer.getPointeeType()) : type;
}

Type getMaskType(Type type) { return withElementType(type, IntegerType::get(type.getContext(), 1)); }

Attribute getEncodingOrNull(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? tensor.getEncoding() : Attribute();
}

LogicalResult verifySameEncoding(Operation *op) {
  std::optional<Attribute> first;
  for (Type type : llvm::concat<Type>(llvm::to_vector(op->getOperandTypes()), llvm::to_vector(op->getResultTypes()))) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor) {
      continue;
    }
    if (!first) {
      first = tensor.getEncoding();
    } else if (*first != tensor.getEncoding()) {
      return op->emitOpError("requires the same encoding for all operands and results");
    }
  }
  return success();
}

} // namespace jitk::ir::tt
