#include "backends/nvidia/codegen/lowering/AccessSteps.h"

#include "backends/nvidia/codegen/lowering/Packing.h"

using namespace mlir;
using namespace jitk::ir;

namespace jitk::nvidia {

constexpr unsigned kMatrixWordBits = 32;

static std::string matrixForm(StringRef name, const LocalAccess &access) {
  bool transposed = access.form == LocalAccessForm::MatrixTransposed;
  return (name + ".x" + Twine(access.numMatrices()) + (transposed ? ".trans" : "")).str();
}

/// True where the bits of `input` that move no address are zero: in one of those that store to the same places. Null if
/// each has its own.
static Value storesFirst(LoweringBuilder &b, ArrayRef<int32_t> bases, llvm::function_ref<Value()> input) {
  uint32_t copies = 0;
  for (auto [bit, basis] : llvm::enumerate(bases)) {
    copies |= basis == 0 ? 1u << bit : 0;
  }
  return copies ? b.equal(b.bitAnd(input(), copies), 0) : Value();
}

void storeSteps(FunctionLowering &f, const LocalAccess &access, StepAddress address, ArrayRef<Value> values,
                uint32_t registerXor, SharedWindow window) {
  LoweringBuilder &b = f.builder();
  bool vectors = access.form == LocalAccessForm::Vector;
  assert((vectors || window == SharedWindow::Cta) && "stmatrix stores to the CTA's own memory");
  Value lane = vectors ? storesFirst(b, access.laneBases, [&] { return f.lane(); }) : Value();
  auto storeAll = [&] {
    for (const LocalAccessStep &step : access.steps) {
      SmallVector<Value> elements =
          llvm::map_to_vector(step.registers, [&](unsigned reg) { return values[reg ^ registerXor]; });
      if (vectors) {
        storeShared(b, address(step), elements, lane, window);
        continue;
      }
      SmallVector<Value> operands = {address(step)};
      llvm::append_range(operands, packWords(b, elements, kMatrixWordBits));
      b.inst(matrixForm("stmatrix", access), operands);
    }
  };
  if (Value warp = storesFirst(b, access.warpBases, [&] { return f.warp(); })) {
    f.ifThen(warp, storeAll);
  } else {
    storeAll();
  }
}

void loadSteps(LoweringBuilder &b, const LocalAccess &access, StepAddress address, Type element,
               MutableArrayRef<Value> values, uint32_t registerXor) {
  for (const LocalAccessStep &step : access.steps) {
    SmallVector<Value> elements;
    if (access.form == LocalAccessForm::Vector) {
      elements = loadShared(b, address(step), element, step.registers.size());
    } else {
      SmallVector<Value> words(b.inst(matrixForm("ldmatrix", access), {address(step)}));
      elements = unpackWords(b, words, element, step.registers.size());
    }
    for (auto [reg, value] : llvm::zip_equal(step.registers, elements)) {
      values[reg ^ registerXor] = value;
    }
  }
}

void copyRegisters(const LocalAccess &access, MutableArrayRef<Value> values) {
  for (auto [copy, original] : access.copies) {
    values[copy] = values[original];
  }
}

} // namespace jitk::nvidia
