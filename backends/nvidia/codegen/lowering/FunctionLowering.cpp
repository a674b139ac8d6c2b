#include "backends/nvidia/codegen/lowering/FunctionLowering.h"

#include "backends/nvidia/codegen/lowering/GridDependency.h"
#include "backends/nvidia/codegen/lowering/Packing.h"
#include "backends/nvidia/codegen/lowering/WarpSpecialize.h"
#include "src/ir/layout/EncodingLayouts.h"
#include "src/ir/llvm/KeepInvariants.h"
#include "src/ir/llvm/ProgrammaticLaunch.h"

#include "llvm/ADT/PostOrderIterator.h"

using namespace mlir;
using namespace jitk::ir;

namespace jitk::nvidia {

constexpr unsigned kGlobalSpace = 1;
constexpr unsigned kWarpSize = 32;
constexpr unsigned kTensorMapBytes = 128;

FailureOr<KernelTarget> KernelTarget::of(Operation *functionOrModule) {
  KernelTarget target;
  auto module = dyn_cast<ModuleOp>(functionOrModule);
  module = module ? module : functionOrModule->getParentOfType<ModuleOp>();
  auto name = module->getAttrOfType<StringAttr>("ttg.target");
  if (name &&
      (!name.getValue().starts_with("cuda:") || name.getValue().drop_front(5).getAsInteger(10, target.capability))) {
    return module.emitError("ttg.target must be \"cuda:<capability>\": got ") << name;
  }
  auto read = [&](StringRef key, unsigned &value) {
    value = ttg::lookupKernelNumber(functionOrModule, key).value_or(value);
  };
  read("ttg.num-warps", target.numWarps);
  read("ttg.num-ctas", target.numCtas);
  target.clusterSize = ttg::lookupKernelNumber(functionOrModule, ttg::kClusterDimX).value_or(target.numCtas);
  target.totalWarps = target.numWarps;
  read("ttg.total-num-warps", target.totalWarps);
  return target;
}

Type convertElementType(Type type) {
  MLIRContext *context = type.getContext();
  if (isa<tt::PointerType>(type)) {
    return LLVM::LLVMPointerType::get(context, kGlobalSpace);
  }
  if (isa<tt::TensorDescType>(type)) {
    return LLVM::LLVMPointerType::get(context);
  }
  if (auto number = dyn_cast<FloatType>(type); number && number.getWidth() <= 8) {
    return IntegerType::get(context, 8);
  }
  if (auto integer = dyn_cast<IntegerType>(type)) {
    return IntegerType::get(context, integer.getWidth());
  }
  if (isa<IndexType>(type)) {
    return IntegerType::get(context, 32);
  }
  return type;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

LogicalResult FunctionLowering::run(tt::FuncOp source, const KernelTarget &target, passes::AxisInfoAnalysis &axes) {
  FunctionLowering lowering(source, target, axes);
  return failure(failed(lowering.run()) || lowering.incomplete_);
}

LogicalResult FunctionLowering::run() {
  createFunction();
  source_.walk([&](ttg::WarpSpecializeOp op) { specializations_.push_back(op); });
  Block *body = appendBlock();
  builder_->setInsertionPointToEnd(root_.prologue);
  if (specializations_.empty()) {
    LLVM::BrOp::create(*builder_, source_.getLoc(), ValueRange(), body);
    return lowerRegion(source_.getBody(), body);
  }
  root_.barrier = kKernelBarrier;
  Block *workers = appendBlock();
  Value warp = uniformWarp(builder_->instValue("sreg.tid.x"));
  LLVM::CondBrOp::create(*builder_, source_.getLoc(), builder_->less(warp, target_.numWarps), body, workers);
  if (failed(lowerRegion(source_.getBody(), body))) {
    return failure();
  }
  builder_->setLoc(source_.getLoc());
  return lowerWorkers(*this, specializations_, workers, warp);
}

void FunctionLowering::createFunction() {
  MLIRContext *context = source_.getContext();
  isKernel_ = source_.isPublic();

  SmallVector<Type> parameters;
  for (Type type : source_.getArgumentTypes()) {
    llvm::append_range(parameters, registerTypes(type));
  }
  unsigned numValues = parameters.size();
  auto scratch = LLVM::LLVMPointerType::get(context, kGlobalSpace);
  parameters.append({scratch, scratch});
  if (!isKernel_) {
    parameters.push_back(IntegerType::get(context, 32));
  }

  SmallVector<Type> results;
  for (Type type : source_.getResultTypes()) {
    llvm::append_range(results, registerTypes(type));
  }
  Type result = results.empty()       ? Type(LLVM::LLVMVoidType::get(context))
                : results.size() == 1 ? results.front()
                                      : LLVM::LLVMStructType::getLiteral(context, results);

  OpBuilder b(source_);
  function_ =
      LLVM::LLVMFuncOp::create(b, source_.getLoc(), source_.getName(), LLVM::LLVMFunctionType::get(result, parameters));
  root_.prologue = function_.addEntryBlock(b);
  builder_.emplace(root_.prologue);
  root_.numWarps = target_.numWarps;

  unsigned next = 0;
  for (auto [argument, type] : llvm::zip(source_.getArguments(), source_.getArgumentTypes())) {
    unsigned count = numRegisters(type);
    set(argument,
        llvm::map_to_vector(function_.getArguments().slice(next, count), [](BlockArgument a) { return Value(a); }));
    if (isKernel_ && isa<tt::TensorDescType>(type)) {
      function_.setArgAttr(next, "llvm.byval", TypeAttr::get(LLVM::LLVMArrayType::get(b.getI8Type(), kTensorMapBytes)));
      function_.setArgAttr(next, "llvm.align", b.getI64IntegerAttr(64));
      function_.setArgAttr(next, "nvvm.grid_constant", b.getUnitAttr());
    }
    next += count;
  }
  globalScratch_ = function_.getArgument(numValues);
  profileScratch_ = function_.getArgument(numValues + 1);

  if (!isKernel_) {
    sharedBase_ = function_.getArgument(numValues + 2);
    function_.setLinkage(LLVM::Linkage::Internal);
    return;
  }
  function_->setAttr("nvvm.kernel", b.getUnitAttr());
  function_->setAttr("nvvm.reqntid", b.getDenseI32ArrayAttr(int32_t(target_.totalWarps * kWarpSize)));
  if (target_.clusterSize > 1) {
    function_->setAttr("nvvm.cluster_dim", b.getDenseI32ArrayAttr({int32_t(target_.clusterSize), 1, 1}));
  }
  if (std::optional<int> limit = ttg::lookupKernelNumber(source_, "ttg.maxnreg")) {
    function_->setAttr("nvvm.maxnreg", b.getI32IntegerAttr(*limit));
  }
  if (Attribute shared = source_->getAttr("ttg.shared")) {
    function_->setAttr("ttg.shared", shared);
  }
  if (source_->hasAttr(ir::kKeepInvariants)) {
    function_.setPassthroughAttr(b.getStrArrayAttr({ir::kKeepInvariants}));
  }
  owesGridWait_ = source_->hasAttr(ir::kProgrammaticLaunch);
}

//===----------------------------------------------------------------------===//
// Registers, types and layouts
//===----------------------------------------------------------------------===//

ArrayRef<Value> FunctionLowering::registers(Value value) const {
  auto it = registers_.find(value);
  assert(it != registers_.end() && "a value is lowered before its uses");
  return it->second;
}

Value FunctionLowering::scalar(Value value) const {
  ArrayRef<Value> held = registers(value);
  assert(held.size() == 1);
  return held.front();
}

void FunctionLowering::set(Value value, ArrayRef<Value> registers) {
  assert(registers.size() == numRegisters(value.getType()));
  registers_[value] = registers.copy(registerMemory_);
}

void FunctionLowering::setAll(Value value, Value contents) {
  set(value, SmallVector<Value>(numRegisters(value.getType()), contents));
}

Type FunctionLowering::elementType(Type type) const { return convertElementType(getElementTypeOrSelf(type)); }

SmallVector<Type> FunctionLowering::registerTypes(Type type) {
  if (isa<ttg::MemDescType>(type)) {
    return SmallVector<Type>(numRegisters(type), IntegerType::get(type.getContext(), 32));
  }
  if (isa<ttg::AsyncTokenType>(type)) {
    return {};
  }
  return SmallVector<Type>(numRegisters(type), elementType(type));
}

/// How many elements of a tensor share a word from block to block; 1 if they have registers of their own.
static unsigned elementsOfWord(Type type, Type element, size_t count) {
  if (!isa<RankedTensorType>(type) || !element.isIntOrFloat()) {
    return 1;
  }
  unsigned bits = element.getIntOrFloatBitWidth();
  return (bits == 8 || bits == 16) && count % (32 / bits) == 0 ? 32 / bits : 1;
}

SmallVector<Type> FunctionLowering::carriedTypes(Type type) {
  SmallVector<Type> types = registerTypes(type);
  unsigned perWord = types.empty() ? 1 : elementsOfWord(type, types.front(), types.size());
  return perWord == 1 ? types : SmallVector<Type>(types.size() / perWord, IntegerType::get(type.getContext(), 32));
}

SmallVector<Value> FunctionLowering::carried(Value value) {
  ArrayRef<Value> held = registers(value);
  unsigned perWord = held.empty() ? 1 : elementsOfWord(value.getType(), held.front().getType(), held.size());
  return perWord == 1 ? SmallVector<Value>(held) : packWords(*builder_, held, 32);
}

void FunctionLowering::receive(BlockArgument argument, ArrayRef<Value> carried) {
  SmallVector<Type> types = registerTypes(argument.getType());
  bool isPacked = carried.size() != types.size();
  set(argument, isPacked ? unpackWords(*builder_, carried, types.front(), types.size()) : SmallVector<Value>(carried));
}

unsigned FunctionLowering::numRegisters(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    return layout(tensor).numRegisters();
  }
  if (auto memory = dyn_cast<ttg::MemDescType>(type)) {
    return isa<ttg::SharedMemorySpaceAttr>(memory.getMemorySpace()) ? 2 : 1;
  }
  return isa<ttg::AsyncTokenType>(type) ? 0 : 1;
}

const TensorLayout &FunctionLowering::layout(RankedTensorType type) {
  std::unique_ptr<TensorLayout> &cached = layouts_[type];
  if (!cached) {
    cached = std::make_unique<TensorLayout>(toLinearLayout(type));
  }
  return *cached;
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

Value FunctionLowering::inPrologue(llvm::function_ref<Value()> emit) {
  OpBuilder::InsertionGuard guard(*builder_);
  Location loc = builder_->loc();
  builder_->setInsertionPoint(group_->prologue->getTerminator());
  builder_->setLoc(source_.getLoc());
  Value value = emit();
  builder_->setLoc(loc);
  return value;
}

Value FunctionLowering::thread() {
  if (!group_->thread) {
    group_->thread = inPrologue([&] {
      Value thread = builder_->add(builder_->instValue("sreg.tid.x"), -int64_t(group_->firstWarp * kWarpSize));
      return group_->replicas == 1 ? thread : builder_->urem(thread, numWarps() * kWarpSize);
    });
  }
  return group_->thread;
}

Value FunctionLowering::lane() {
  if (!group_->lane) {
    Value id = thread();
    group_->lane = inPrologue([&] { return numWarps() == 1 ? id : builder_->urem(id, kWarpSize); });
  }
  return group_->lane;
}

Value FunctionLowering::warp() {
  if (!group_->warp) {
    Value id = thread();
    group_->warp = inPrologue([&] { return numWarps() == 1 ? builder_->i32(0) : uniformWarp(id); });
  }
  return group_->warp;
}

Value FunctionLowering::replica() {
  if (!group_->replica) {
    group_->replica = inPrologue([&] {
      Value thread = builder_->add(builder_->instValue("sreg.tid.x"), -int64_t(group_->firstWarp * kWarpSize));
      return group_->replicas == 1 ? builder_->i32(0) : builder_->udiv(uniformWarp(thread), numWarps());
    });
  }
  return group_->replica;
}

Value FunctionLowering::uniformWarp(Value thread) {
  // All lanes hold the same number; the shuffle tells the assembler so.
  return builder_->instValue("shfl.sync.idx", {builder_->udiv(thread, kWarpSize), builder_->i32(0)});
}

Value FunctionLowering::block() {
  if (!block_) {
    if (target_.numCtas == 1) {
      block_ = builder_->i32(0);
    } else {
      WarpGroup *inner = std::exchange(group_, &root_);
      block_ = inPrologue([&] { return builder_->instValue("sreg.cluster_ctarank"); });
      group_ = inner;
    }
  }
  return block_;
}

void FunctionLowering::withGroup(WarpGroup &group, llvm::function_ref<void()> body) {
  WarpGroup *outer = std::exchange(group_, &group);
  body();
  group_ = outer;
}

void FunctionLowering::barrier() {
  if (numWarps() == 1) {
    builder_->inst("bar.warp.sync", {});
    return;
  }
  if (group_->replicas > 1) {
    Value barrier = builder_->add(replica(), int64_t(group_->barrier));
    builder_->inst("bar.sync.r", {barrier}, {int64_t(numWarps() * kWarpSize)});
    return;
  }
  if (numWarps() == target_.totalWarps) {
    builder_->inst("bar.sync", {}, {int64_t(group_->barrier)});
    return;
  }
  builder_->inst("bar.sync.n", {}, {int64_t(group_->barrier), int64_t(numWarps() * kWarpSize)});
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

Value FunctionLowering::applyBases(Value input, ArrayRef<int32_t> bases) {
  // Input bit i goes to output bit o for each set bit o of bases[i]. All pairs of one distance o - i are one masked
  // shift: two instructions a distance, whatever the map.
  LoweringBuilder &b = *builder_;
  constexpr int kBits = 32;
  std::array<uint32_t, 2 * kBits> masks = {};
  for (auto [i, basis] : llvm::enumerate(bases)) {
    for (uint32_t rest = basis; rest; rest &= rest - 1) {
      masks[llvm::countr_zero(rest) - int(i) + kBits] |= 1u << i;
    }
  }
  Value result;
  uint32_t used = 0;
  uint32_t all = llvm::maskTrailingOnes<uint32_t>(bases.size());
  for (int distance = -kBits; distance < kBits; ++distance) {
    uint32_t mask = masks[distance + kBits];
    if (!mask) {
      continue;
    }
    // Bits that the shift pushes out need no mask.
    uint32_t kept = distance < 0 ? all & ~llvm::maskTrailingOnes<uint32_t>(-distance) : all;
    Value term = mask == kept ? input : b.bitAnd(input, mask);
    term = distance < 0 ? b.shiftRight(term, -distance) : b.shiftLeft(term, distance);
    uint32_t bits = distance < 0 ? mask >> -distance : mask << distance;
    result = !result ? term : (used & bits) ? b.bitXor(result, term) : b.bitOr(result, term);
    used |= bits;
  }
  return result ? result : b.i32(0);
}

Value FunctionLowering::threadPart(const TensorLayout &held, llvm::function_ref<int32_t(ArrayRef<int32_t>)> number) {
  // Lane and warp are the bits of one number.
  SmallVector<int32_t> ofThread, ofBlock;
  for (const TensorLayout::Bases *bases : {&held.lanes, &held.warps}) {
    for (const TensorLayout::Coordinate &basis : *bases) {
      ofThread.push_back(number(basis));
    }
  }
  for (const TensorLayout::Coordinate &basis : held.blocks) {
    ofBlock.push_back(number(basis));
  }
  Value id = thread(), rank = held.blocks.empty() ? builder_->i32(0) : block();
  return inPrologue([&] { return builder_->bitXor(applyBases(id, ofThread), applyBases(rank, ofBlock)); });
}

ArrayRef<Value> FunctionLowering::threadCoordinate(RankedTensorType type) {
  auto found = group_->threadCoordinates.find(type);
  if (found != group_->threadCoordinates.end()) {
    return found->second;
  }
  const TensorLayout &held = layout(type);
  SmallVector<Value, 4> coordinate;
  for (unsigned dim = 0; dim < held.rank; ++dim) {
    coordinate.push_back(threadPart(held, [&](ArrayRef<int32_t> basis) { return basis[dim]; }));
  }
  return group_->threadCoordinates[type] = coordinate;
}

Value FunctionLowering::withRegister(Value threadPart, int32_t registerPart, uint32_t threadBits) {
  if (threadBits & registerPart) {
    return builder_->bitXor(threadPart, registerPart);
  }
  if (registerPart == 0 || LoweringBuilder::constantOf(threadPart)) {
    return builder_->add(threadPart, registerPart);
  }
  auto flags = LLVM::IntegerOverflowFlags::nsw | LLVM::IntegerOverflowFlags::nuw;
  return LLVM::AddOp::create(*builder_, builder_->loc(), threadPart, builder_->i32(registerPart), flags);
}

SmallVector<SmallVector<Value, 4>> FunctionLowering::indices(RankedTensorType type) {
  const TensorLayout &held = layout(type);
  ArrayRef<Value> base = threadCoordinate(type);
  SmallVector<SmallVector<Value, 4>> result(held.numRegisters());
  SmallVector<DenseMap<int32_t, Value>> known(held.rank);
  for (unsigned dim = 0; dim < held.rank; ++dim) {
    uint32_t threadBits = 0;
    for (const TensorLayout::Bases *bases : {&held.lanes, &held.warps, &held.blocks}) {
      for (const TensorLayout::Coordinate &basis : *bases) {
        threadBits |= basis[dim];
      }
    }
    for (unsigned reg = 0; reg < held.numRegisters(); ++reg) {
      int32_t constant = held.registerCoordinate(reg)[dim];
      Value &index = known[dim][constant];
      if (!index) {
        index = withRegister(base[dim], constant, threadBits);
      }
      result[reg].push_back(index);
    }
  }
  return result;
}

Value FunctionLowering::whereZero(Value bits, uint32_t mask) {
  return inPrologue([&] { return builder_->equal(builder_->bitAnd(bits, mask), 0); });
}

Value FunctionLowering::ownsElementsInCta(RankedTensorType type) {
  auto found = group_->owners.find(type);
  if (found != group_->owners.end()) {
    return found->second;
  }
  const TensorLayout &held = layout(type);
  uint32_t free = TensorLayout::freeBits(held.lanes) | TensorLayout::freeBits(held.warps) << held.lanes.size();
  return group_->owners[type] = free ? whereZero(thread(), free) : Value();
}

Value FunctionLowering::ownsElements(RankedTensorType type) {
  Value owner = ownsElementsInCta(type);
  uint32_t free = TensorLayout::freeBits(layout(type).blocks);
  return free ? builder_->logicalAnd(owner, whereZero(block(), free)) : owner;
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

Value FunctionLowering::sharedBase() {
  if (!sharedBase_) {
    WarpGroup *inner = std::exchange(group_, &root_);
    sharedBase_ = inPrologue([&] { return builder_->instValue("shared.base"); });
    group_ = inner;
  }
  return sharedBase_;
}

Value FunctionLowering::sharedAddress(Operation *op) {
  auto offset = op->getAttrOfType<IntegerAttr>("allocation.offset");
  if (!offset) {
    op->emitOpError("has no place in shared memory: it is allocated before the lowering");
    incomplete_ = true;
    return sharedBase();
  }
  if (group_->replicas > 1 && op->getParentOfType<ttg::WarpSpecializePartitionsOp>()) {
    op->emitOpError("needs shared memory in a partition with replicas, which would share it");
    incomplete_ = true;
  }
  return builder_->add(sharedBase(), offset.getInt());
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

Block *FunctionLowering::appendBlock(TypeRange arguments) {
  Block *block = new Block;
  function_.getBody().push_back(block);
  block->addArguments(arguments, SmallVector<Location>(arguments.size(), builder_->loc()));
  return block;
}

void FunctionLowering::ifThen(Value condition, llvm::function_ref<void()> body) {
  Block *taken = appendBlock(), *after = appendBlock();
  LLVM::CondBrOp::create(*builder_, builder_->loc(), condition, taken, after);
  builder_->setInsertionPointToEnd(taken);
  body();
  LLVM::BrOp::create(*builder_, builder_->loc(), ValueRange(), after);
  builder_->setInsertionPointToEnd(after);
}

FailureOr<SmallVector<Value>> FunctionLowering::inlineCombine(Block &function, ArrayRef<Value> lhs,
                                                              ArrayRef<Value> rhs) {
  for (auto [argument, value] : llvm::zip_equal(function.getArguments(), llvm::concat<const Value>(lhs, rhs))) {
    set(argument, value);
  }
  const LoweringTable &table = LoweringTable::get();
  for (Operation &op : function.without_terminator()) {
    if (failed(table.lower(&op, *this))) {
      return failure();
    }
  }
  return llvm::map_to_vector(function.getTerminator()->getOperands(), [&](Value value) { return scalar(value); });
}

LogicalResult FunctionLowering::lowerRegion(Region &region, Block *entry) {
  blocks_[&region.front()] = entry;
  for (Block &block : llvm::drop_begin(region)) {
    SmallVector<Type> types;
    for (Type type : block.getArgumentTypes()) {
      llvm::append_range(types, carriedTypes(type));
    }
    blocks_[&block] = appendBlock(types);
  }

  // Reverse post-order visits a block after its dominators, so that operands are lowered before their uses.
  const LoweringTable &table = LoweringTable::get();
  llvm::ReversePostOrderTraversal<Region *> order(&region);
  for (Block *block : order) {
    builder_->setInsertionPointToEnd(blockOf(block));
    if (block != &region.front()) {
      SmallVector<Value> arguments(ValueRange(blockOf(block)->getArguments()));
      for (BlockArgument argument : block->getArguments()) {
        size_t count = carriedTypes(argument.getType()).size();
        receive(argument, ArrayRef(arguments).take_front(count));
        arguments.erase(arguments.begin(), arguments.begin() + ptrdiff_t(count));
      }
    }
    for (Operation &op : *block) {
      builder_->setLoc(op.getLoc());
      if (owesGridWait_ && !mayPrecedeGridWait(op)) { // in the entry block, at its terminator at the latest
        emitGridWait(*builder_);
        owesGridWait_ = false;
      }
      if (failed(table.lower(&op, *this))) {
        return failure();
      }
    }
  }
  // Blocks that nothing reaches have no body.
  for (Block &block : llvm::make_early_inc_range(region)) {
    Block *target = blockOf(&block);
    if (target->empty()) {
      target->erase();
    }
  }
  return success();
}

} // namespace jitk::nvidia
