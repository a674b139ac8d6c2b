// tt.dot on mma.sync: operands and accumulator in registers.
//
// With inputPrecision tf32x3 an operand of f32 is the sum of two tf32 numbers, big and small, and a product is
// small * big + big * small + big * big: what is left out is 2^-20 of it at most. Infinite operands give NaN.

#include "backends/nvidia/codegen/lowering/Dots.h"
#include "backends/nvidia/codegen/lowering/Fragments.h"
#include "src/ir/ptx/Instructions.h"

using namespace mlir;

namespace jitk::nvidia {
using namespace jitk::ir;

/// "mma.m16n8k16.f32.f16": the row for these element types; empty if there is none.
static std::string mmaForm(Type a, Type b, Type accumulator) {
  llvm::StringRef nameA = productTypeName(a), nameB = productTypeName(b);
  if (nameA.empty() || nameB.empty()) {
    return "";
  }
  llvm::StringRef nameC = accumulator.isF32() ? "f32" : accumulator.isF16() ? "f16" : "s32";
  std::string form = ("mma.m16n8k" + llvm::Twine(256 / a.getIntOrFloatBitWidth()) + "." + nameC + "." + nameA).str();
  return nameA == nameB ? form : (form + "." + nameB).str();
}

static bool isFloat8(Type element) { return isa<FloatType>(element) && element.getIntOrFloatBitWidth() == 8; }

namespace {

/// Emits the products of one tt.dot.
class MmaDot {
public:
  MmaDot(tt::DotOp op, FunctionLowering &f)
      : op_(op), f_(f), a_(f, op.getA(), 0), b_(f, op.getB(), 1),
        result_(f.layout(cast<RankedTensorType>(op.getType()))), accumulator_(f.registers(op.getC())) {}

  LogicalResult run() {
    constexpr unsigned kFloat8Capability = 89;
    int64_t depth = cast<RankedTensorType>(op_.getA().getType()).getShape()[1];
    if (f_.target().capability < kFloat8Capability && isFloat8(a_.elementType()) && isFloat8(b_.elementType())) {
      a_.decodeToHalf();
      b_.decodeToHalf();
    }
    Type accumulator = cast<RankedTensorType>(op_.getType()).getElementType();
    form_ = mmaForm(a_.elementType(), b_.elementType(), accumulator);
    if (form_.empty() || !ptx::lookupInstruction(form_)) {
      return op_.emitOpError() << "multiplies element types that no tensor core takes: got " << a_.elementType()
                               << " and " << b_.elementType() << " into " << accumulator;
    }
    tt::InputPrecision precision = op_.getInputPrecision();
    bool isSplit = a_.elementType().isF32() && precision == tt::InputPrecision::TF32x3;
    if (a_.elementType().isF32() && !isSplit && precision != tt::InputPrecision::TF32) {
      return op_.emitOpError() << "multiplies f32 on tensor cores in tf32 or tf32x3 alone: got "
                               << stringifyInputPrecision(precision);
    }
    int32_t step = int32_t(8 * a_.kWidth());
    SmallVector<int32_t> rows = result_.origins(0, 8), columns = result_.origins(1, 7);
    // Passes go over all columns: a product that adds to the last one's sum would wait for it.
    SmallVector<Pass> passes = {{Part::Whole, Part::Whole}};
    if (isSplit) {
      passes = {{Part::Small, Part::Whole}, {Part::Whole, Part::Small}, {Part::Whole, Part::Whole}};
    }
    for (int32_t k = 0; k < depth; k += step) {
      for (unsigned u = 0; u < a_.wordsPerPlace(); ++u) {
        for (int32_t row : rows) {
          for (const Pass &pass : passes) {
            for (int32_t column : columns) {
              if (failed(multiply(row, column, k, u, pass))) {
                return op_.emitOpError("has operand layouts that do not match its result");
              }
            }
          }
        }
      }
    }
    f_.set(op_.getResult(), accumulator_);
    return success();
  }

private:
  /// What is multiplied of an operand: it as it is, or what tf32 leaves of it.
  enum class Part { Whole, Small };
  struct Pass {
    Part left, right;
  };

  LogicalResult multiply(int32_t row, int32_t column, int32_t k, unsigned u, const Pass &pass) {
    SmallVector<Value> operands = leftFragment(a_, row, k, u);
    for (int32_t along : {k, k + int32_t(4 * b_.kWidth())}) {
      operands.push_back(b_.word(column, along, u));
    }
    SmallVector<unsigned> tile = accumulatorTile(result_, row, column, 8);
    constexpr unsigned kLeftWords = 4, kWords = 6;
    if (operands.size() != kWords || !operands[4] || !operands[5] || tile.empty()) {
      return failure();
    }
    for (unsigned i = 0; i < kWords; ++i) {
      if ((i < kLeftWords ? pass.left : pass.right) == Part::Small) {
        operands[i] = smallPart(operands[i]);
      }
    }
    LoweringBuilder &b = f_.builder();
    SmallVector<Value> elements = llvm::map_to_vector(tile, [&](unsigned reg) -> Value { return accumulator_[reg]; });
    llvm::append_range(operands, packAccumulator(b, elements));
    SmallVector<Value> product =
        unpackAccumulator(b, SmallVector<Value>(b.inst(form_, operands)), elements.front().getType(), elements.size());
    for (auto [reg, value] : llvm::zip_equal(tile, product)) {
      accumulator_[reg] = value;
    }
    return success();
  }

  /// Tensor cores take the upper bits of a word; this is the rest of it, which is exact.
  Value smallPart(Value word) {
    constexpr int64_t kBitsOfTf32 = 0xffffe000;
    Value &part = smallParts_[word];
    if (!part) {
      LoweringBuilder &b = f_.builder();
      Value big = LLVM::AndOp::create(b, b.loc(), word, b.i32(int32_t(kBitsOfTf32)));
      Value rest = LLVM::FSubOp::create(b, b.loc(), b.bitcast(word, b.getF32Type()), b.bitcast(big, b.getF32Type()));
      part = b.bitcast(rest, b.getI32Type());
    }
    return part;
  }

  tt::DotOp op_;
  FunctionLowering &f_;
  OperandFragments a_, b_;
  FragmentIndex result_;
  SmallVector<Value> accumulator_;
  std::string form_;
  DenseMap<Value, Value> smallParts_; ///< of words
};

} // namespace

LogicalResult lowerMmaDot(tt::DotOp op, FunctionLowering &f) { return MmaDot(op, f).run(); }

} // namespace jitk::nvidia
