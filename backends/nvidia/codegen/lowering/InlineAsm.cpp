// tt.elementwise_inline_asm: PTX of the kernel's author.

#include "backends/nvidia/codegen/lowering/FunctionLowering.h"
#include "backends/nvidia/codegen/lowering/Packing.h"

using namespace mlir;
using namespace jitk::ir;

namespace jitk::nvidia {

constexpr unsigned kRegisterBits = 32;

/// The width of the integers in which `pack` elements of `bits` bits travel; 0 if each travels as it is.
static unsigned wordBits(unsigned bits, unsigned pack) {
  return bits < kRegisterBits ? std::min(bits * pack, kRegisterBits) : 0;
}

static LogicalResult lowerInlineAsm(tt::ElementwiseInlineAsmOp op, FunctionLowering &f) {
  LoweringBuilder &b = f.builder();
  unsigned pack = op.getPackedElement();
  SmallVector<SmallVector<Value>> results(op->getNumResults());

  // The registers that the text writes for one pack of elements.
  SmallVector<Type> resultTypes;
  for (Type type : op->getResultTypes()) {
    Type element = f.elementType(type);
    unsigned bits = storedBits(element), word = wordBits(bits, pack);
    resultTypes.append(word ? pack * bits / word : pack, word ? Type(b.getIntegerType(word)) : element);
  }
  Type packed = resultTypes.size() == 1 ? resultTypes.front()
                                        : Type(LLVM::LLVMStructType::getLiteral(op.getContext(), resultTypes));

  unsigned count = f.numRegisters(op->getResult(0).getType());
  for (unsigned first = 0; first < count; first += pack) {
    SmallVector<Value> operands;
    for (Value operand : op.getArgs()) {
      SmallVector<Value> elements;
      for (unsigned k = 0; k < pack; ++k) {
        // A thread that holds fewer elements than a pack repeats its last one.
        elements.push_back(f.registers(operand)[std::min(first + k, count - 1)]);
      }
      unsigned word = wordBits(storedBits(elements.front().getType()), pack);
      llvm::append_range(operands, word ? packWords(b, elements, word) : elements);
    }
    auto assembly = LLVM::InlineAsmOp::create(
        b, b.loc(), packed, operands, op.getAsmString(), op.getConstraints(), /*has_side_effects=*/!op.getPure(),
        /*is_align_stack=*/false, LLVM::tailcallkind::TailCallKind::None, /*asm_dialect=*/nullptr,
        /*operand_attrs=*/nullptr);
    SmallVector<Value> written;
    for (unsigned index = 0; index < resultTypes.size(); ++index) {
      written.push_back(resultTypes.size() == 1
                            ? assembly.getRes()
                            : Value(LLVM::ExtractValueOp::create(b, b.loc(), assembly.getRes(), index)));
    }
    unsigned next = 0;
    for (auto [held, type] : llvm::zip(results, op->getResultTypes())) {
      Type element = f.elementType(type);
      unsigned bits = storedBits(element), word = wordBits(bits, pack);
      unsigned words = word ? pack * bits / word : pack;
      ArrayRef<Value> part = ArrayRef(written).slice(next, words);
      llvm::append_range(held, word ? unpackWords(b, part, element, pack) : SmallVector<Value>(part));
      next += words;
    }
  }
  for (auto [result, held] : llvm::zip(op->getResults(), results)) {
    held.truncate(count);
    f.set(result, held);
  }
  return success();
}

void populateInlineAsmLowerings(LoweringTable &table) { table.add(lowerInlineAsm); }

} // namespace jitk::nvidia
