// Constants. A tensor whose elements are equal is one register; of another one each thread looks its elements up in a
// table in global memory.

#include "backends/nvidia/codegen/lowering/Exchange.h"
#include "backends/nvidia/codegen/lowering/Packing.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

using namespace mlir;
using namespace jitk::ir;

namespace jitk::nvidia {

/// The attribute of one element in the type that represents it.
static TypedAttr convertElement(Attribute attr, Type type) {
  if (auto number = dyn_cast<FloatAttr>(attr); number && isa<IntegerType>(type)) {
    return IntegerAttr::get(type, number.getValue().bitcastToAPInt());
  }
  if (auto number = dyn_cast<IntegerAttr>(attr)) {
    return IntegerAttr::get(type, number.getValue().sextOrTrunc(type.getIntOrFloatBitWidth()));
  }
  return cast<TypedAttr>(attr);
}

/// The generic address of the elements in row-major order, each in its stored bits.
static Value tableOf(DenseElementsAttr elements, unsigned bits, LoweringBuilder &b, ModuleOp module) {
  constexpr unsigned kGlobalSpace = 1;
  SmallVector<APInt> words;
  for (Attribute element : elements.getValues<Attribute>()) {
    auto number = dyn_cast<FloatAttr>(element);
    words.push_back(
        (number ? number.getValue().bitcastToAPInt() : cast<IntegerAttr>(element).getValue()).zextOrTrunc(bits));
  }
  Type word = b.getIntegerType(bits);
  auto contents = DenseElementsAttr::get(RankedTensorType::get(int64_t(words.size()), word), words);
  std::string name = "constant_" + std::to_string(llvm::range_size(module.getOps<LLVM::GlobalOp>()));
  OpBuilder top = OpBuilder::atBlockBegin(module.getBody());
  auto table = LLVM::GlobalOp::create(top, module.getLoc(), LLVM::LLVMArrayType::get(word, words.size()),
                                      /*isConstant=*/true, LLVM::Linkage::Internal, name, contents,
                                      /*alignment=*/bits / 8, kGlobalSpace);
  auto generic = LLVM::LLVMPointerType::get(module.getContext());
  return LLVM::AddrSpaceCastOp::create(b, b.loc(), generic, LLVM::AddressOfOp::create(b, b.loc(), table));
}

static void lookUp(arith::ConstantOp op, DenseElementsAttr elements, FunctionLowering &f) {
  LoweringBuilder &b = f.builder();
  auto type = cast<RankedTensorType>(op.getType());
  Type element = f.elementType(type);
  unsigned bits = storedBits(element);
  Value table = tableOf(elements, bits, b, op->getParentOfType<ModuleOp>());
  const TensorLayout &layout = f.layout(type);
  LinearIndex index = linearIndex(f, layout, [&](ArrayRef<int32_t> coordinate) {
    int32_t number = 0;
    for (auto [part, size] : llvm::zip(coordinate, type.getShape())) {
      number = number * int32_t(size) + part;
    }
    return number;
  });
  SmallVector<Value> registers;
  for (unsigned reg = 0; reg < layout.numRegisters(); ++reg) {
    if (unsigned same = layout.canonicalRegister(reg); same != reg) {
      registers.push_back(registers[same]);
      continue;
    }
    Value address = b.offsetPointer(table, b.mul(index.of(reg, f), bits / 8));
    Value loaded = LLVM::LoadOp::create(b, b.loc(), b.getIntegerType(bits), address);
    registers.push_back(b.fromBits(loaded, element));
  }
  f.set(op, registers);
}

static LogicalResult lowerConstant(arith::ConstantOp op, FunctionLowering &f) {
  Type type = f.elementType(op.getType());
  if (!isa<ShapedType>(op.getType())) {
    f.setAll(op, f.builder().constant(type, convertElement(op.getValue(), type)));
    return success();
  }
  auto dense = dyn_cast<DenseElementsAttr>(op.getValue());
  if (!dense) {
    return op.emitOpError("of a tensor must have dense elements");
  }
  if (dense.isSplat()) {
    f.setAll(op, f.builder().constant(type, convertElement(dense.getSplatValue<Attribute>(), type)));
  } else {
    lookUp(op, dense, f);
  }
  return success();
}

static LogicalResult lowerPoison(ub::PoisonOp op, FunctionLowering &f) {
  SmallVector<Value> registers;
  for (Type type : f.registerTypes(op.getType())) {
    registers.push_back(LLVM::PoisonOp::create(f.builder(), op.getLoc(), type));
  }
  f.set(op, registers);
  return success();
}

void populateConstantLowerings(LoweringTable &table) {
  table.add(lowerConstant);
  table.add(lowerPoison);
}

} // namespace jitk::nvidia
