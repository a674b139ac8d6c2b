#include "src/kernels/vocabulary/KernelBuilder.h"

#include "src/ir/llvm/KeepInvariants.h"
#include "src/ir/llvm/ProgrammaticLaunch.h"
#include "src/ir/tt/TensorParts.h"
#include "src/ir/ttg/Ttg.h"
#include "src/ir/ttng/Ttng.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace jitk::kernels {
using namespace jitk::ir;

Type elementTypeOf(llvm::StringRef dtype, MLIRContext &context) {
  if (dtype == "fp16") {
    return Float16Type::get(&context);
  }
  if (dtype == "bf16") {
    return BFloat16Type::get(&context);
  }
  if (dtype == "fp32") {
    return Float32Type::get(&context);
  }
  if (dtype == "e4m3") {
    return Float8E4M3FNType::get(&context);
  }
  if (dtype == "int32") {
    return IntegerType::get(&context, 32);
  }
  llvm_unreachable("the schema admits no other dtype");
}

/// The parameters that a step takes, in the order of their declaration.
static llvm::SmallVector<const KernelSignature::Parameter *> choose(const KernelSignature &signature,
                                                                    llvm::ArrayRef<llvm::StringRef> arguments) {
  llvm::SmallVector<const KernelSignature::Parameter *> chosen;
  for (const KernelSignature::Parameter &parameter : signature.parameters()) {
    if (arguments.empty() || parameter.kind == KernelSignature::Parameter::Kind::Dimension ||
        llvm::is_contained(arguments, parameter.name)) {
      chosen.push_back(&parameter);
    }
  }
  return chosen;
}

Type KernelBuilder::parameterType(const KernelSignature::Parameter &parameter) {
  using Kind = KernelSignature::Parameter::Kind;
  switch (parameter.kind) {
  case Kind::Tensor:
  case Kind::Workspace:
    return tt::PointerType::get(parameter.type, 1);
  case Kind::Descriptor:
    return parameter.type;
  case Kind::Dimension:
    return getI32Type();
  case Kind::Scalar:
    return getF32Type();
  }
  llvm_unreachable("all kinds are above");
}

KernelBuilder::KernelBuilder(KernelProgram &program, const KernelProgram::Step &step)
    : ImplicitLocOpBuilder(program.module_->getLoc(), program.module_->getContext()), program_(program),
      signature_(program.signature_), parameters_(choose(signature_, step.arguments)), numWarps_(step.numWarps),
      clusterSize_(step.clusterSize) {
  Operation *module = *program.module_;
  setInsertionPointToEnd(program.module_->getBody());
  llvm::SmallVector<Type> types;
  for (const KernelSignature::Parameter *parameter : parameters_) {
    types.push_back(parameterType(*parameter));
  }
  function_ = tt::FuncOp::create(*this, step.symbol, getFunctionType(types, {}));
  function_.setPublic();
  for (auto [index, parameter] : llvm::enumerate(parameters_)) {
    if (parameter->divisibility > 1) {
      function_.setArgAttr(index, "tt.divisibility", getI32IntegerAttr(parameter->divisibility));
    }
  }
  // The first step's warps are the module's; a step with others says so itself.
  if (IntegerAttr warps = getI32IntegerAttr(numWarps_); !module->hasAttr(ttg::kNumWarps)) {
    module->setAttr(ttg::kNumWarps, warps);
  } else if (module->getAttr(ttg::kNumWarps) != warps) {
    function_->setAttr(ttg::kNumWarps, warps);
  }
  if (clusterSize_ > 1) {
    function_->setAttr(ttg::kClusterDimX, getI32IntegerAttr(clusterSize_));
  }
  if (step.keepsInvariants) {
    function_->setAttr(ir::kKeepInvariants, getUnitAttr());
  }
  if (program_.launchesProgrammatically_) {
    function_->setAttr(ir::kProgrammaticLaunch, getUnitAttr());
  }
  setInsertionPointToStart(function_.addEntryBlock());
}

KernelBuilder::KernelBuilder(std::unique_ptr<KernelProgram> program, const KernelProgram::Step &step)
    : KernelBuilder(*program, step) {
  ownProgram_ = std::move(program);
}

KernelBuilder::KernelBuilder(MLIRContext &context, const KernelSignature &signature, const Target &target,
                             llvm::StringRef symbol, unsigned numWarps)
    : KernelBuilder(std::make_unique<KernelProgram>(context, signature, target),
                    {.symbol = symbol, .numWarps = numWarps}) {}

void KernelBuilder::close(const std::array<Expression, 3> &grid) && {
  tt::ReturnOp::create(*this, ValueRange{});
  // A step takes no tensors than those it uses: a launch encodes the tensor maps of all that the step takes.
  using Kind = KernelSignature::Parameter::Kind;
  for (size_t index = parameters_.size(); index-- > 0;) {
    bool isTensor = parameters_[index]->kind == Kind::Descriptor || parameters_[index]->kind == Kind::Tensor;
    if (isTensor && function_.getArgument(index).use_empty()) {
      (void)function_.eraseArgument(index);
      parameters_.erase(parameters_.begin() + index);
    }
  }
  LaunchStep step;
  step.symbol = function_.getName();
  step.grid = grid;
  step.threads = 32 * numWarps_;
  step.programmaticLaunch = program_.launchesProgrammatically_;
  step.cluster[0] = clusterSize_;
  for (const KernelSignature::Parameter *parameter : parameters_) {
    step.arguments.push_back(signature_.argument(*parameter));
  }
  step.arguments.push_back({Argument::Kind::Null, 0, {}}); // global scratch
  step.arguments.push_back({Argument::Kind::Null, 0, {}}); // profile scratch
  program_.recipe_.steps.push_back(std::move(step));
}

BuiltKernel KernelBuilder::finish(std::array<Expression, 3> grid) && {
  std::move(*this).close(grid);
  return std::move(*ownProgram_).finish();
}

Value KernelBuilder::descriptorParameter(llvm::StringRef name, const SharedTile &tile) {
  for (auto [index, parameter] : llvm::enumerate(parameters_)) {
    auto type = dyn_cast_or_null<tt::TensorDescType>(parameter->type);
    if (type && parameter->name == name && type == tile.descriptorType(type.getBlockType().getRank())) {
      return function_.getArgument(index);
    }
  }
  llvm_unreachable("the kernel's builder asks for a descriptor that it did not declare");
}

Value KernelBuilder::parameter(llvm::StringRef name) {
  for (auto [index, parameter] : llvm::enumerate(parameters_)) {
    if (parameter->name == name) {
      return function_.getArgument(index);
    }
  }
  llvm_unreachable("the kernel's builder asks for a parameter that the step does not take");
}

Value KernelBuilder::tensorParameter(llvm::StringRef name) { return parameter(name); }

Value KernelBuilder::scalar(llvm::StringRef name) { return parameter(name); }

Value KernelBuilder::size(llvm::StringRef name) {
  const Dimension &dimension = signature_.size(name);
  return dimension.isStatic() ? i32(dimension.value) : parameter(name);
}

bool KernelBuilder::isMultiple(llvm::StringRef name, int64_t factor) const {
  const Dimension &dimension = signature_.size(name);
  return (dimension.isStatic() ? dimension.value : dimension.divisor) % factor == 0;
}

Value KernelBuilder::rowStride(llvm::StringRef tensor, Value row) {
  std::optional<int64_t> stride = rowStride(tensor);
  return stride ? i64(*stride) : toI64(row);
}

Value KernelBuilder::i32(int64_t value) { return arith::ConstantIntOp::create(*this, value, 32); }
Value KernelBuilder::i64(int64_t value) { return arith::ConstantIntOp::create(*this, value, 64); }
Value KernelBuilder::f32(double value) {
  return arith::ConstantFloatOp::create(*this, getF32Type(), llvm::APFloat(float(value)));
}

Value KernelBuilder::boolean(bool value) { return arith::ConstantIntOp::create(*this, value, 1); }

Value KernelBuilder::numPrograms(unsigned axis) {
  return tt::GetNumProgramsOp::create(*this, getI32Type(),
                                      tt::ProgramIDDimAttr::get(getContext(), tt::ProgramIDDim(axis)));
}

Value KernelBuilder::programId(unsigned axis) {
  return tt::GetProgramIdOp::create(*this, getI32Type(),
                                    tt::ProgramIDDimAttr::get(getContext(), tt::ProgramIDDim(axis)));
}

Value KernelBuilder::clusterRank() { return rem(programId(0), i32(clusterSize_)); }
Value KernelBuilder::clusterId() { return div(programId(0), i32(clusterSize_)); }
Value KernelBuilder::numClusters() { return div(numPrograms(0), i32(clusterSize_)); }

Value KernelBuilder::toI64(Value value) {
  if (getElementTypeOrSelf(value.getType()).isInteger(64)) {
    return value;
  }
  return createOrFold<arith::ExtSIOp>(withElement(value.getType(), getI64Type()), value);
}

Value KernelBuilder::toI32(Value value) {
  return createOrFold<arith::TruncIOp>(withElement(value.getType(), getI32Type()), value);
}

Value KernelBuilder::add(Value lhs, Value rhs) { return createOrFold<arith::AddIOp>(lhs, rhs); }
Value KernelBuilder::sub(Value lhs, Value rhs) { return createOrFold<arith::SubIOp>(lhs, rhs); }
Value KernelBuilder::mul(Value lhs, Value rhs) { return createOrFold<arith::MulIOp>(lhs, rhs); }
Value KernelBuilder::div(Value lhs, Value rhs) { return createOrFold<arith::DivSIOp>(lhs, rhs); }
Value KernelBuilder::rem(Value lhs, Value rhs) { return createOrFold<arith::RemSIOp>(lhs, rhs); }
Value KernelBuilder::minimum(Value lhs, Value rhs) { return createOrFold<arith::MinSIOp>(lhs, rhs); }
Value KernelBuilder::maximum(Value lhs, Value rhs) { return createOrFold<arith::MaxSIOp>(lhs, rhs); }
Value KernelBuilder::both(Value lhs, Value rhs) { return createOrFold<arith::AndIOp>(lhs, rhs); }

Value KernelBuilder::ceilDiv(Value lhs, int64_t divisor) { return div(add(lhs, i32(divisor - 1)), i32(divisor)); }

Value KernelBuilder::lessThan(Value lhs, Value rhs) {
  return createOrFold<arith::CmpIOp>(arith::CmpIPredicate::slt, lhs, rhs);
}
Value KernelBuilder::lessEqual(Value lhs, Value rhs) {
  return createOrFold<arith::CmpIOp>(arith::CmpIPredicate::sle, lhs, rhs);
}
Value KernelBuilder::equal(Value lhs, Value rhs) {
  return createOrFold<arith::CmpIOp>(arith::CmpIPredicate::eq, lhs, rhs);
}
Value KernelBuilder::select(Value condition, Value ifTrue, Value ifFalse) {
  return createOrFold<arith::SelectOp>(condition, ifTrue, ifFalse);
}

Value KernelBuilder::addf(Value lhs, Value rhs) { return createOrFold<arith::AddFOp>(lhs, rhs); }
Value KernelBuilder::subf(Value lhs, Value rhs) { return createOrFold<arith::SubFOp>(lhs, rhs); }
Value KernelBuilder::mulf(Value lhs, Value rhs) { return createOrFold<arith::MulFOp>(lhs, rhs); }
Value KernelBuilder::divf(Value lhs, Value rhs) { return createOrFold<arith::DivFOp>(lhs, rhs); }
Value KernelBuilder::maxf(Value lhs, Value rhs) { return createOrFold<arith::MaxNumFOp>(lhs, rhs); }
Value KernelBuilder::fma(Value lhs, Value rhs, Value addend) { return createOrFold<math::FmaOp>(lhs, rhs, addend); }
Value KernelBuilder::exp2(Value value) { return createOrFold<math::Exp2Op>(value, arith::FastMathFlags::afn); }
Value KernelBuilder::log2(Value value) { return createOrFold<math::Log2Op>(value); }
Value KernelBuilder::rsqrt(Value value) { return createOrFold<math::RsqrtOp>(value); }
Value KernelBuilder::equalf(Value lhs, Value rhs) {
  return createOrFold<arith::CmpFOp>(arith::CmpFPredicate::OEQ, lhs, rhs);
}
Value KernelBuilder::lessThanf(Value lhs, Value rhs) {
  return createOrFold<arith::CmpFOp>(arith::CmpFPredicate::OLT, lhs, rhs);
}

Type KernelBuilder::withElement(Type like, Type elementType) {
  if (auto tensor = dyn_cast<RankedTensorType>(like)) {
    return tensor.clone(elementType);
  }
  return elementType;
}

Value KernelBuilder::convert(Value value, Type elementType) {
  Type from = getElementTypeOrSelf(value.getType());
  if (from == elementType) {
    return value;
  }
  Type type = withElement(value.getType(), elementType);
  if (from.getIntOrFloatBitWidth() < elementType.getIntOrFloatBitWidth()) {
    return arith::ExtFOp::create(*this, type, value);
  }
  return arith::TruncFOp::create(*this, type, value);
}

RankedTensorType KernelBuilder::tensorType(llvm::ArrayRef<int64_t> shape, Type elementType) {
  return RankedTensorType::get(shape, elementType);
}

Value KernelBuilder::range(int64_t size) {
  return tt::MakeRangeOp::create(*this, tensorType({size}, getI32Type()), 0, size);
}

Value KernelBuilder::splat(Value scalar, llvm::ArrayRef<int64_t> shape) {
  return tt::SplatOp::create(*this, tensorType(shape, scalar.getType()), scalar);
}

Value KernelBuilder::unsplat(Value tensor) { return tt::UnsplatOp::create(*this, tensor); }

Value KernelBuilder::splatLike(Value scalar, Value like) {
  auto tensor = dyn_cast<RankedTensorType>(like.getType());
  return tensor ? splat(scalar, tensor.getShape()) : scalar;
}

Value KernelBuilder::full(double value, llvm::ArrayRef<int64_t> shape, Type elementType) {
  RankedTensorType type = tensorType(shape, elementType);
  if (auto floatType = dyn_cast<FloatType>(elementType)) {
    llvm::APFloat constant(value);
    bool losesInfo = false;
    constant.convert(floatType.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
    return arith::ConstantOp::create(*this, DenseElementsAttr::get(type, constant));
  }
  return arith::ConstantOp::create(
      *this, DenseElementsAttr::get(type, getIntegerAttr(elementType, int64_t(value)).getValue()));
}

Value KernelBuilder::expand(Value tensor, unsigned axis) { return tt::ExpandDimsOp::create(*this, tensor, int(axis)); }

Value KernelBuilder::spread(Value tensor, llvm::ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (type.getShape() == shape) {
    return tensor;
  }
  return tt::BroadcastOp::create(*this, tensorType(shape, type.getElementType()), tensor);
}

Value KernelBuilder::asColumn(Value vector, int64_t columns) {
  auto type = cast<RankedTensorType>(vector.getType());
  int64_t rows = type.getShape().front();
  Value column =
      tt::ExpandDimsOp::create(*this, tensorType({rows, 1}, type.getElementType()), vector, getI32IntegerAttr(1));
  if (columns == 1) {
    return column;
  }
  return tt::BroadcastOp::create(*this, tensorType({rows, columns}, type.getElementType()), column);
}

Value KernelBuilder::asRow(Value vector, int64_t rows) {
  auto type = cast<RankedTensorType>(vector.getType());
  int64_t columns = type.getShape().front();
  Value row =
      tt::ExpandDimsOp::create(*this, tensorType({1, columns}, type.getElementType()), vector, getI32IntegerAttr(0));
  if (rows == 1) {
    return row;
  }
  return tt::BroadcastOp::create(*this, tensorType({rows, columns}, type.getElementType()), row);
}

Value KernelBuilder::transpose(Value matrix) {
  auto type = cast<RankedTensorType>(matrix.getType());
  RankedTensorType result = tensorType({type.getShape()[1], type.getShape()[0]}, type.getElementType());
  return tt::TransOp::create(*this, result, matrix, getDenseI32ArrayAttr({1, 0}));
}

Value KernelBuilder::dot(Value lhs, Value rhs, Value accumulator) {
  bool isWide = getElementTypeOrSelf(lhs.getType()).isF32();
  tt::InputPrecision precision = isWide ? tt::InputPrecision::TF32x3 : tt::InputPrecision::IEEE;
  return tt::DotOp::create(*this, accumulator.getType(), lhs, rhs, accumulator,
                           tt::InputPrecisionAttr::get(getContext(), precision), getI32IntegerAttr(0));
}

llvm::SmallVector<Value> KernelBuilder::splitColumns(Value matrix, int64_t columns) {
  return tt::splitColumns(*this, getLoc(), matrix, columns);
}

Value KernelBuilder::startProduct(Value lhs, Value rhs, Value accumulator, Value accumulates) {
  // In one accumulator over all of K; only fp8 could be split.
  constexpr uint32_t kNeverPromotes = 1u << 30;
  return ttng::WarpGroupDotOp::create(*this, lhs, rhs, accumulator, accumulates,
                                      /*isAsync=*/true, tt::InputPrecision::IEEE, kNeverPromotes);
}

llvm::SmallVector<Value> KernelBuilder::startProductOfParts(Value lhs, ValueRange rhs, ValueRange accumulators,
                                                            Value accumulates) {
  auto product = ttng::WarpGroupDotPartsOp::create(*this, lhs, rhs, accumulators, accumulates);
  return {product.getD().begin(), product.getD().end()};
}

Value KernelBuilder::awaitProducts(Value accumulator, unsigned inFlight) {
  return ttng::WarpGroupDotWaitOp::create(*this, ValueRange{accumulator}, inFlight).getResult(0);
}

llvm::SmallVector<Value> KernelBuilder::awaitProducts(ValueRange tensors, unsigned inFlight) {
  auto wait = ttng::WarpGroupDotWaitOp::create(*this, tensors, inFlight);
  return {wait.getResults().begin(), wait.getResults().end()};
}

Value KernelBuilder::transposeBuffer(Value buffer) {
  return ttg::MemDescTransOp::create(*this, buffer, llvm::ArrayRef<int32_t>{1, 0});
}

Value KernelBuilder::reduce(Value tensor, unsigned axis, llvm::function_ref<Value(Value, Value)> combine) {
  Type element = getElementTypeOrSelf(tensor.getType());
  auto reduction = tt::ReduceOp::create(*this, ValueRange{tensor}, int(axis));
  OpBuilder::InsertionGuard guard(*this);
  Block *block = createBlock(&reduction->getRegion(0), {}, {element, element}, {getLoc(), getLoc()});
  tt::ReduceReturnOp::create(*this, ValueRange{combine(block->getArgument(0), block->getArgument(1))});
  return reduction->getResult(0);
}

Value KernelBuilder::reduceRowsMax(Value matrix) {
  return reduce(matrix, 1, [this](Value lhs, Value rhs) { return maxf(lhs, rhs); });
}

Value KernelBuilder::reduceRowsSum(Value matrix) { return reduceSum(matrix, 1); }

Value KernelBuilder::reduceSum(Value tensor, unsigned axis) {
  return reduce(tensor, axis, [this](Value lhs, Value rhs) {
    return isa<FloatType>(lhs.getType()) ? addf(lhs, rhs) : add(lhs, rhs);
  });
}

Value KernelBuilder::warpAny(Value tensor) { return ttng::WarpAnyOp::create(*this, tensor); }

Value KernelBuilder::cumulativeSum(Value vector) {
  Type element = getElementTypeOrSelf(vector.getType());
  auto scan = tt::ScanOp::create(*this, ValueRange{vector}, 0, /*reverse=*/false);
  OpBuilder::InsertionGuard guard(*this);
  Block *block = createBlock(&scan->getRegion(0), {}, {element, element}, {getLoc(), getLoc()});
  tt::ScanReturnOp::create(*this, ValueRange{addf(block->getArgument(0), block->getArgument(1))});
  return scan->getResult(0);
}

Value KernelBuilder::reshape(Value tensor, llvm::ArrayRef<int64_t> shape) {
  return tt::ReshapeOp::create(*this, tensor, shape);
}

Value KernelBuilder::advance(Value pointer, Value offset) {
  return tt::AddPtrOp::create(*this, pointer.getType(), pointer, offset);
}

Value KernelBuilder::pointers(Value base, Value offsets) {
  auto shape = cast<RankedTensorType>(offsets.getType()).getShape();
  return advance(splat(base, shape), offsets);
}

Value KernelBuilder::pointers(const MatrixView &matrix, Value rows, Value columns) {
  int64_t numRows = cast<RankedTensorType>(rows.getType()).getShape().front();
  int64_t numColumns = cast<RankedTensorType>(columns.getType()).getShape().front();
  // Rows are scaled in 64 bits: a row times its stride may pass 2^31 elements; a column never does.
  Value rowOffsets = mul(toI64(asColumn(rows, 1)), splat(matrix.rowStride, {numRows, 1}));
  Value rowPointers = advance(splat(matrix.base, {numRows, 1}), rowOffsets);
  Value spread =
      numColumns == 1
          ? rowPointers
          : tt::BroadcastOp::create(*this, tensorType({numRows, numColumns}, matrix.base.getType()), rowPointers);
  return advance(spread, asRow(columns, numRows));
}

Value KernelBuilder::load(Value pointers, Value mask, double other) {
  auto pointer = cast<tt::PointerType>(getElementTypeOrSelf(pointers.getType()));
  Type element = pointer.getPointeeType();
  Value fallback;
  if (mask) {
    if (auto tensor = dyn_cast<RankedTensorType>(pointers.getType())) {
      fallback = full(other, tensor.getShape(), element);
    } else {
      fallback = arith::ConstantOp::create(*this, isa<FloatType>(element)
                                                      ? TypedAttr(getFloatAttr(element, other))
                                                      : TypedAttr(getIntegerAttr(element, int64_t(other))));
    }
  }
  return tt::LoadOp::create(*this, pointers, mask, fallback);
}

Value KernelBuilder::fetchAdd(Value pointer, Value value) {
  return tt::AtomicRMWOp::create(*this, value.getType(), tt::RMWOp::ADD, pointer, value, /*mask=*/Value(),
                                 tt::MemSemantic::RELAXED, tt::MemSyncScope::GPU);
}

void KernelBuilder::store(Value pointers, Value value, Value mask) {
  tt::StoreOp::create(*this, pointers, value, mask, tt::CacheModifier::NONE, tt::EvictionPolicy::NORMAL);
}

Value KernelBuilder::buffer(llvm::ArrayRef<int64_t> shape, Type elementType) {
  auto type = tile::BufType::get(shape, elementType, tile::MemorySpace::Shared);
  return tile::AllocOp::create(*this, type);
}

void KernelBuilder::copyIn(Value pointers, Value buffer) { tile::CopyOp::create(*this, pointers, buffer); }

Value KernelBuilder::read(Value buffer) {
  auto type = cast<tile::BufType>(buffer.getType());
  return tile::ToTensorOp::create(*this, tensorType(type.getShape(), type.getElementType()), buffer);
}

void KernelBuilder::write(Value tensor, Value buffer) { tile::StoreTensorOp::create(*this, tensor, buffer); }

void KernelBuilder::fill(Value buffer, Value pointers, Value mask) {
  if (!mask) {
    copyIn(pointers, buffer);
    return;
  }
  write(load(pointers, mask), buffer);
}

void KernelBuilder::ifElse(Value condition, Body ifTrue, Body ifFalse) {
  auto branch = scf::IfOp::create(*this, condition, /*withElseRegion=*/bool(ifFalse));
  OpBuilder::InsertionGuard guard(*this);
  setInsertionPointToStart(branch.thenBlock());
  ifTrue();
  if (ifFalse) {
    setInsertionPointToStart(branch.elseBlock());
    ifFalse();
  }
}

llvm::SmallVector<Value> KernelBuilder::ifThen(Value condition, llvm::function_ref<llvm::SmallVector<Value>()> body,
                                               ValueRange otherwise) {
  llvm::APInt known;
  if (matchPattern(condition, m_ConstantInt(&known))) {
    return known.isZero() ? llvm::SmallVector<Value>(otherwise) : body();
  }
  auto branch = scf::IfOp::create(*this, TypeRange(otherwise), condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(*this);
  setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(*this, body());
  setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(*this, otherwise);
  return {branch.getResults().begin(), branch.getResults().end()};
}

llvm::SmallVector<Value> KernelBuilder::loop(Value lower, Value upper, Value step, ValueRange carried, LoopBody body) {
  llvm::APInt first, last;
  if (matchPattern(lower, m_ConstantInt(&first)) && matchPattern(upper, m_ConstantInt(&last)) && first.sge(last)) {
    return {carried.begin(), carried.end()};
  }
  auto forOp = scf::ForOp::create(*this, lower, upper, step, carried);
  OpBuilder::InsertionGuard guard(*this);
  // A loop without carried values is made with its terminator.
  if (Block *block = forOp.getBody(); !block->empty()) {
    block->back().erase();
  }
  setInsertionPointToStart(forOp.getBody());
  llvm::SmallVector<Value> next = body(forOp.getInductionVar(), forOp.getRegionIterArgs());
  scf::YieldOp::create(*this, next);
  return {forOp.getResults().begin(), forOp.getResults().end()};
}

llvm::SmallVector<Value> KernelBuilder::loopWhile(ValueRange carried, llvm::function_ref<Value(ValueRange)> condition,
                                                  llvm::function_ref<llvm::SmallVector<Value>(ValueRange)> body) {
  auto loop = scf::WhileOp::create(
      *this, TypeRange(carried), carried,
      [&](OpBuilder &, Location, ValueRange now) { scf::ConditionOp::create(*this, condition(now), now); },
      [&](OpBuilder &, Location, ValueRange now) { scf::YieldOp::create(*this, body(now)); });
  return {loop.getResults().begin(), loop.getResults().end()};
}

} // namespace jitk::kernels
