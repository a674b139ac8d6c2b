// ttng.warp_group_dot, of one part of columns or several, and its wait: wgmma.
//
// A warpgroup computes tiles of 64 rows by instrShape[1] columns. B, and A unless it is in registers, are read through
// descriptors (BufferOperand). Accumulators are tied through every instruction and through the wait, so that neither
// LLVM nor the assembler moves a use across it.

#include "backends/nvidia/codegen/lowering/BufferOperand.h"
#include "backends/nvidia/codegen/lowering/Fragments.h"
#include "src/ir/ptx/Instructions.h"
#include "src/ir/ttng/Ttng.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace jitk::nvidia {
using namespace jitk::ir;

namespace {

/// 32-bit registers of the left operand of one instruction.
constexpr int64_t kFragmentWords = 4;

std::string formOf(Type a, Type b, Type accumulator, int64_t columns, int64_t stepOfK, bool isInRegistersA) {
  llvm::StringRef nameA = productTypeName(a), nameB = productTypeName(b);
  llvm::StringRef nameC = accumulator.isF32() ? "f32" : accumulator.isF16() ? "f16" : "s32";
  std::string name =
      ("wgmma.m64n" + llvm::Twine(columns) + "k" + llvm::Twine(stepOfK) + "." + nameC + "." + nameA).str();
  if (nameA != nameB) {
    name += ("." + nameB).str();
  }
  return name + (isInRegistersA ? ".rs" : ".ss");
}

SmallVector<int64_t> immediatesOf(Type accumulator, Type operand, bool isTransposedA, bool isTransposedB) {
  if (accumulator.isInteger(32)) {
    return {};
  }
  SmallVector<int64_t> values = {1, 1};
  if (operand.getIntOrFloatBitWidth() == 16) {
    values.push_back(isTransposedA);
    values.push_back(isTransposedB);
  }
  return values;
}

/// Emits the products of one warp_group_dot.
class WarpGroupDot {
public:
  WarpGroupDot(ttng::WarpGroupDotOp op, FunctionLowering &f)
      : op_(op), f_(f), type_(cast<RankedTensorType>(op.getType())), result_(f.layout(type_)),
        accumulator_(f.registers(op.getC())) {
    auto mma = cast<ttg::NvidiaMmaEncodingAttr>(type_.getEncoding());
    columns_ = mma.getInstrShape()[1];
  }

  LogicalResult run();

private:
  LogicalResult prepare();
  /// The words of the left operand that the products of a tile read, step of K after step; empty if it is none.
  SmallVector<Value> leftWords(int32_t row);
  LogicalResult fence();
  LogicalResult multiplyTile(int32_t row, int32_t column);
  std::string form() const;
  SmallVector<int64_t> immediates() const;
  /// The operand in a buffer, moved to the warpgroup's rows (dim 0) or columns (dim 1) of the result.
  std::optional<BufferOperand> operandIn(Value buffer, unsigned dim, int32_t outerSize);
  void promote(ArrayRef<unsigned> tile, ArrayRef<Value> partial);

  ttng::WarpGroupDotOp op_;
  FunctionLowering &f_;
  RankedTensorType type_;
  FragmentIndex result_;
  SmallVector<Value> accumulator_;
  unsigned columns_;
  int64_t depth_ = 0, stepOfK_ = 0;
  Type elementA_, elementB_;
  std::optional<BufferOperand> bufferA_, bufferB_;
  std::optional<OperandFragments> fragmentsA_;
  DenseMap<int32_t, SmallVector<Value>> leftWords_; ///< of each tile's first row, after the fence
};

} // namespace

std::optional<BufferOperand> WarpGroupDot::operandIn(Value buffer, unsigned dim, int32_t outerSize) {
  std::optional<BufferOperand> operand =
      BufferOperand::of(f_, buffer, /*kDim=*/1 - dim, outerSize, int32_t(stepOfK_), DescriptorKind::Wgmma);
  if (!operand) {
    return std::nullopt;
  }
  // Warps of one warpgroup share a descriptor; what lies between warpgroups is moved by the upper bits of the warp.
  SmallVector<int32_t> bases;
  for (auto [bit, coordinate] : llvm::enumerate(f_.layout(type_).warps)) {
    bases.push_back(bit < 2 ? 0 : operand->byteOffset(coordinate[dim], 0));
  }
  operand->advance(f_.applyBases(f_.warp(), bases));
  return operand;
}

LogicalResult WarpGroupDot::prepare() {
  constexpr int32_t kTileRows = 64;
  auto buffer = cast<ttg::MemDescType>(op_.getB().getType());
  elementB_ = buffer.getElementType();
  depth_ = buffer.getShape()[0];
  stepOfK_ = 256 / elementB_.getIntOrFloatBitWidth();
  bufferB_ = operandIn(op_.getB(), 1, int32_t(columns_));
  elementA_ = cast<ShapedType>(op_.getA().getType()).getElementType();
  if (isa<ttg::MemDescType>(op_.getA().getType())) {
    bufferA_ = operandIn(op_.getA(), 0, kTileRows);
  } else {
    fragmentsA_.emplace(f_, op_.getA(), 0);
  }
  if (!bufferB_ || (!bufferA_ && !fragmentsA_)) {
    return op_.emitOpError("reads a buffer whose layout no matrix descriptor can say");
  }
  bool transposed = bufferB_->isTransposed() || (bufferA_ && bufferA_->isTransposed());
  if (transposed && elementB_.getIntOrFloatBitWidth() != 16) {
    return op_.emitOpError("needs K contiguous in both operands unless they have 16 bits: got ") << elementB_;
  }
  return success();
}

std::string WarpGroupDot::form() const {
  return formOf(elementA_, elementB_, type_.getElementType(), columns_, stepOfK_, fragmentsA_.has_value());
}

SmallVector<int64_t> WarpGroupDot::immediates() const {
  return immediatesOf(type_.getElementType(), elementB_, bufferA_ && bufferA_->isTransposed(),
                      bufferB_->isTransposed());
}

void WarpGroupDot::promote(ArrayRef<unsigned> tile, ArrayRef<Value> partial) {
  LoweringBuilder &b = f_.builder();
  SmallVector<Value> complete(b.inst(("wgmma.wait_group.f32x" + llvm::Twine(partial.size())).str(), partial, {0}));
  for (auto [reg, value] : llvm::zip_equal(tile, complete)) {
    accumulator_[reg] = LLVM::FAddOp::create(b, b.loc(), accumulator_[reg], value);
  }
}

LogicalResult WarpGroupDot::multiplyTile(int32_t row, int32_t column) {
  LoweringBuilder &b = f_.builder();
  SmallVector<unsigned> tile = accumulatorTile(result_, row, column, columns_);
  if (tile.empty()) {
    return op_.emitOpError("has a result layout that is not that of its instruction");
  }
  SmallVector<Value> elements = llvm::map_to_vector(tile, [&](unsigned reg) -> Value { return accumulator_[reg]; });
  Type element = elements.front().getType();
  if (op_.getUseC() && matchPattern(op_.getUseC(), m_Zero())) {
    // Registers that the first instruction does not read need no value.
    llvm::fill(elements, b.undef(element));
  }
  SmallVector<Value> words = packAccumulator(b, elements);
  // Each maxNumImpreciseAcc of K goes to an accumulator of its own, which is added in full precision.
  bool promotes = op_.needsPartialAccumulator();
  int64_t run = promotes ? op_.getMaxNumImpreciseAcc() : depth_;
  if (promotes && op_.getUseC()) {
    for (unsigned reg : tile) {
      accumulator_[reg] = b.select(f_.scalar(op_.getUseC()), accumulator_[reg], b.zero(element));
    }
  }
  std::string name = form();
  for (int64_t k = 0; k < depth_; k += stepOfK_) {
    SmallVector<Value> operands;
    if (fragmentsA_) {
      llvm::append_range(operands, ArrayRef(leftWords_[row]).slice(k / stepOfK_ * kFragmentWords, kFragmentWords));
    } else {
      operands.push_back(bufferA_->at(row, k));
    }
    operands.push_back(bufferB_->at(column, k));
    bool startsRun = promotes && k % run == 0;
    Value useC = k == 0 && op_.getUseC() ? f_.scalar(op_.getUseC()) : b.boolean(true);
    operands.push_back(startsRun ? b.boolean(false) : useC);
    llvm::append_range(operands, words);
    words = SmallVector<Value>(b.inst(name, operands, immediates()));
    if (promotes && (k + stepOfK_) % run == 0) {
      b.inst("wgmma.commit_group", {});
      promote(tile, words);
      b.inst("wgmma.fence", {});
    }
  }
  if (!promotes) {
    for (auto [reg, value] : llvm::zip_equal(tile, unpackAccumulator(b, words, element, tile.size()))) {
      accumulator_[reg] = value;
    }
  }
  return success();
}

SmallVector<Value> WarpGroupDot::leftWords(int32_t row) {
  SmallVector<Value> words;
  for (int64_t k = 0; k < depth_; k += stepOfK_) {
    SmallVector<Value> fragment = leftFragment(*fragmentsA_, row, int32_t(k), 0);
    if (fragment.empty()) {
      return {};
    }
    llvm::append_range(words, fragment);
  }
  return words;
}

/// Before the first product, and whenever registers that it reads were written.
LogicalResult WarpGroupDot::fence() {
  LoweringBuilder &b = f_.builder();
  constexpr size_t kMostWords = 128;
  SmallVector<Value> words;
  SmallVector<int32_t> rows = fragmentsA_ ? result_.origins(0, 8) : SmallVector<int32_t>();
  for (int32_t row : rows) {
    leftWords_[row] = leftWords(row);
    if (leftWords_[row].empty()) {
      return op_.emitOpError("has a left operand that is not a fragment of its instruction");
    }
  }
  if (rows.empty()) {
    b.inst("wgmma.fence", {});
  }
  // The assembler asks for a fence of its own before a product whose operand was computed after the last one.
  for (int32_t row : rows) {
    for (size_t begin = 0; begin < leftWords_[row].size(); begin += kMostWords) {
      MutableArrayRef<Value> part = MutableArrayRef(leftWords_[row]).drop_front(begin);
      part = part.take_front(std::min(kMostWords, part.size()));
      llvm::copy(b.inst(("wgmma.fence.b32x" + Twine(part.size())).str(), SmallVector<Value>(part)), part.begin());
    }
  }
  return success();
}

LogicalResult WarpGroupDot::run() {
  if (failed(prepare())) {
    return failure();
  }
  std::string name = form();
  if (!ptx::lookupInstruction(name)) {
    return op_.emitOpError("has no instruction: ") << name;
  }
  LoweringBuilder &b = f_.builder();
  if (failed(fence())) {
    return failure();
  }
  for (int32_t row : result_.origins(0, 8)) {
    for (int32_t column : result_.origins(1, int32_t(columns_) - 1)) {
      if (failed(multiplyTile(row, column))) {
        return failure();
      }
    }
  }
  b.inst("wgmma.commit_group", {});
  f_.set(op_.getResult(), accumulator_);
  return success();
}

/// Emits `wgmma.wait_group pendings` with every register of `values`, all f32 or all i32, tied through it: in as many
/// waits as the table has registers for. The first one waits, the others only tie.
static void waitWithRegisters(LoweringBuilder &b, MutableArrayRef<Value> values, int64_t pendings) {
  bool isFloat = !values.empty() && values.front().getType().isF32();
  size_t most = isFloat ? 256 : 128;
  for (size_t begin = 0; begin < values.size(); begin += most) {
    MutableArrayRef<Value> part = values.slice(begin, std::min(most, values.size() - begin));
    std::string form = ("wgmma.wait_group." + Twine(isFloat ? "f32x" : "b32x") + Twine(part.size())).str();
    llvm::copy(b.inst(form, SmallVector<Value>(part), {pendings}), part.begin());
  }
}

namespace {
/// Tensors whose registers a wait hands through: accumulators, and left operands that the products read.
class TiedTensors {
public:
  explicit TiedTensors(FunctionLowering &f) : f_(f) {}

  void add(Value tensor) {
    SmallVector<Value> packed = packAccumulator(f_.builder(), f_.registers(tensor));
    SmallVector<Value> &words = wordsLike(packed.front());
    spans_.push_back({tensor, &words, words.size(), packed.size()});
    llvm::append_range(words, packed);
  }

  void wait(int64_t pendings) {
    LoweringBuilder &b = f_.builder();
    if (spans_.empty()) {
      b.inst("wgmma.wait_group", {}, {pendings});
    }
    waitWithRegisters(b, floats_, pendings);
    waitWithRegisters(b, integers_, pendings);
  }

  /// The registers of the next tensor, in the order of `add`.
  SmallVector<Value> next() {
    const Span &span = spans_[next_++];
    ArrayRef<Value> before = f_.registers(span.tensor);
    ArrayRef<Value> words = ArrayRef<Value>(*span.words).slice(span.begin, span.size);
    return unpackAccumulator(f_.builder(), words, before.front().getType(), before.size());
  }

private:
  struct Span {
    Value tensor;
    SmallVector<Value> *words;
    size_t begin, size;
  };
  SmallVector<Value> &wordsLike(Value word) { return word.getType().isF32() ? floats_ : integers_; }

  FunctionLowering &f_;
  SmallVector<Value> floats_, integers_;
  SmallVector<Span> spans_;
  size_t next_ = 0;
};
} // namespace

static LogicalResult lowerWarpGroupDot(ttng::WarpGroupDotOp op, FunctionLowering &f) {
  if (failed(WarpGroupDot(op, f).run())) {
    return failure();
  }
  if (!op.getIsAsync()) {
    TiedTensors tied(f);
    tied.add(op.getResult());
    tied.wait(0);
    f.set(op.getResult(), tied.next());
  }
  return success();
}

static LogicalResult lowerWarpGroupDotParts(ttng::WarpGroupDotPartsOp op, FunctionLowering &f) {
  LoweringBuilder &b = f.builder();
  ttg::MemDescType a = op.getA().getType(), first = cast<ttg::MemDescType>(op.getB().front().getType());
  int64_t depth = a.getShape()[1], stepOfK = 256 / a.getElementTypeBitWidth(), columns = 0;
  std::optional<BufferOperand> left =
      BufferOperand::of(f, op.getA(), /*kDim=*/1, int32_t(a.getShape()[0]), int32_t(stepOfK), DescriptorKind::Wgmma);
  SmallVector<std::optional<BufferOperand>> parts;
  for (Value part : op.getB()) {
    parts.push_back(BufferOperand::of(f, part, /*kDim=*/0,
                                      int32_t(cast<ttg::MemDescType>(part.getType()).getShape()[1]), int32_t(stepOfK),
                                      DescriptorKind::Wgmma));
  }
  if (!left || !llvm::all_of(parts, [](const auto &part) { return part.has_value(); })) {
    return op.emitOpError("reads a buffer whose layout no matrix descriptor can say");
  }
  BufferOperand &right = *parts.front();
  SmallVector<Value> elements;
  for (auto [index, accumulator] : llvm::enumerate(op.getC())) {
    auto type = cast<RankedTensorType>(accumulator.getType());
    // The descriptor of the first part goes on through the others.
    if (!right.goesOnTo(*parts[index], int32_t(columns), int32_t(type.getShape()[1]), int32_t(depth),
                        int32_t(stepOfK))) {
      return op.emitOpError("must have parts of B one behind the other in one buffer: part ")
             << index << " is not known to lie where columns of the first one would go on";
    }
    ArrayRef<Value> registers = f.registers(accumulator);
    SmallVector<unsigned> tile = accumulatorTile(FragmentIndex(f.layout(type)), 0, 0, unsigned(type.getShape()[1]));
    if (tile.size() != registers.size()) {
      return op.emitOpError("has a result layout that is not that of its instruction");
    }
    llvm::append_range(elements, llvm::map_range(tile, [&](unsigned reg) { return registers[reg]; }));
    columns += type.getShape()[1];
  }
  Type element = elements.front().getType();
  if (op.getUseC() && matchPattern(op.getUseC(), m_Zero())) {
    llvm::fill(elements, b.undef(element));
  }
  std::string form = formOf(a.getElementType(), first.getElementType(), element, columns, stepOfK, false);
  if (!ptx::lookupInstruction(form)) {
    return op.emitOpError("has no instruction: ") << form;
  }
  b.inst("wgmma.fence", {});
  SmallVector<Value> words = packAccumulator(b, elements);
  SmallVector<int64_t> immediates =
      immediatesOf(element, a.getElementType(), left->isTransposed(), right.isTransposed());
  for (int64_t k = 0; k < depth; k += stepOfK) {
    Value useC = k == 0 && op.getUseC() ? f.scalar(op.getUseC()) : b.boolean(true);
    SmallVector<Value> operands = {left->at(0, int32_t(k)), right.at(0, int32_t(k)), useC};
    llvm::append_range(operands, words);
    words = SmallVector<Value>(b.inst(form, operands, immediates));
  }
  b.inst("wgmma.commit_group", {});
  SmallVector<Value> sums = unpackAccumulator(b, words, element, elements.size());
  ArrayRef<Value> rest = sums;
  for (OpResult result : op->getResults()) {
    auto type = cast<RankedTensorType>(result.getType());
    SmallVector<unsigned> tile = accumulatorTile(FragmentIndex(f.layout(type)), 0, 0, unsigned(type.getShape()[1]));
    SmallVector<Value> registers(tile.size());
    for (auto [reg, sum] : llvm::zip_equal(tile, rest.take_front(tile.size()))) {
      registers[reg] = sum;
    }
    rest = rest.drop_front(tile.size());
    f.set(result, registers);
  }
  return success();
}

static LogicalResult lowerWarpGroupDotWait(ttng::WarpGroupDotWaitOp op, FunctionLowering &f) {
  TiedTensors tied(f);
  for (Value input : op.getInputs()) {
    if (isa<RankedTensorType>(input.getType())) {
      tied.add(input);
    }
  }
  tied.wait(op.getPendings());
  for (auto [input, output] : llvm::zip_equal(op.getInputs(), op.getOutputs())) {
    if (isa<RankedTensorType>(input.getType())) {
      f.set(output, tied.next());
    } else {
      f.set(output, f.registers(input));
    }
  }
  return success();
}

void populateWarpGroupDotLowerings(LoweringTable &table) {
  table.add(lowerWarpGroupDot);
  table.add(lowerWarpGroupDotParts);
  table.add(lowerWarpGroupDotWait);
}

} // namespace jitk::nvidia
