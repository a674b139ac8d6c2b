#include "src/emulator/LowerPtxForEmulator.h"

#include "src/ir/ptx/Ptx.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace jitk::ir;

namespace jitk::emulator {

static constexpr StringRef executeSymbol = "jitk_emulator_execute";
static constexpr StringRef loopSymbol = "jitk_emulator_loop";
static constexpr StringRef trapSymbol = "jitk_emulator_trap";
/// Functions of CUDA's device runtime; the emulator's have the thread before their arguments.
static constexpr StringRef deviceFunctions[] = {"__assertfail", "vprintf"};

/// "matmul.mlir:12:5"; empty if the location says nothing.
static std::string describeLocation(Location location) {
  std::string text;
  location->walk([&](Location inner) {
    auto file = dyn_cast<FileLineColLoc>(inner);
    if (!file) {
      return WalkResult::advance();
    }
    text =
        llvm::formatv("{0}:{1}:{2}", llvm::sys::path::filename(file.getFilename()), file.getLine(), file.getColumn());
    return WalkResult::interrupt();
  });
  return text;
}

namespace {

/// The constants that calls point to, made once each.
class SiteTable {
public:
  explicit SiteTable(ModuleOp module) : builder_(OpBuilder::atBlockBegin(module.getBody())), symbols_(module) {}

  /// Pointer to the immediates of an instruction, with the address of its location's text before them.
  Value immediates(OpBuilder &builder, Location loc, ArrayRef<int64_t> values, StringRef location) {
    LLVM::GlobalOp site = siteOf(values, location);
    auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
    Value base = LLVM::AddressOfOp::create(builder, loc, site);
    return LLVM::GEPOp::create(builder, loc, pointer, builder.getI64Type(), base, ArrayRef<LLVM::GEPArg>{1});
  }

private:
  LLVM::GlobalOp siteOf(ArrayRef<int64_t> values, StringRef location) {
    std::string key = location.str();
    for (int64_t value : values) {
      key += ";" + std::to_string(value);
    }
    LLVM::GlobalOp &site = sites_[key];
    if (!site) {
      site = createSite(values, location);
    }
    return site;
  }

  LLVM::GlobalOp createSite(ArrayRef<int64_t> values, StringRef location) {
    MLIRContext *context = builder_.getContext();
    Location loc = builder_.getUnknownLoc();
    auto pointer = LLVM::LLVMPointerType::get(context);
    SmallVector<Type> fields = {pointer};
    fields.append(values.size(), builder_.getI64Type());
    auto type = LLVM::LLVMStructType::getLiteral(context, fields);
    LLVM::GlobalOp text = location.empty() ? LLVM::GlobalOp() : textOf(location);
    auto site = LLVM::GlobalOp::create(builder_, loc, type, /*isConstant=*/true, LLVM::Linkage::Internal,
                                       "jitk.site." + std::to_string(sites_.size()), Attribute());
    symbols_.insert(site);
    OpBuilder body = OpBuilder::atBlockBegin(builder_.createBlock(&site.getInitializerRegion()));
    Value address = text ? LLVM::AddressOfOp::create(body, loc, text).getResult()
                         : LLVM::ZeroOp::create(body, loc, pointer).getResult();
    Value init = LLVM::UndefOp::create(body, loc, type);
    init = LLVM::InsertValueOp::create(body, loc, init, address, ArrayRef<int64_t>{0});
    for (auto [index, value] : llvm::enumerate(values)) {
      Value constant = LLVM::ConstantOp::create(body, loc, body.getI64IntegerAttr(value));
      init = LLVM::InsertValueOp::create(body, loc, init, constant, ArrayRef<int64_t>{int64_t(index) + 1});
    }
    LLVM::ReturnOp::create(body, loc, init);
    builder_.setInsertionPointAfter(site);
    return site;
  }

  LLVM::GlobalOp textOf(StringRef location) {
    LLVM::GlobalOp &text = texts_[location];
    if (!text) {
      std::string bytes = location.str() + '\0';
      auto type = LLVM::LLVMArrayType::get(builder_.getI8Type(), bytes.size());
      text =
          LLVM::GlobalOp::create(builder_, builder_.getUnknownLoc(), type, /*isConstant=*/true, LLVM::Linkage::Internal,
                                 "jitk.location." + std::to_string(texts_.size()), builder_.getStringAttr(bytes));
      symbols_.insert(text);
    }
    return text;
  }

  OpBuilder builder_;
  SymbolTable symbols_;
  llvm::StringMap<LLVM::GlobalOp> sites_;
  llvm::StringMap<LLVM::GlobalOp> texts_;
};

/// The arrays through which one function passes registers to the emulator.
class RegisterFrame {
public:
  RegisterFrame(LLVM::LLVMFuncOp function, unsigned numOperands, unsigned numResults) {
    OpBuilder builder = OpBuilder::atBlockBegin(&function.getBody().front());
    thread = function.getArgument(0);
    operands = allocate(builder, function.getLoc(), numOperands);
    results = allocate(builder, function.getLoc(), numResults);
  }

  Value thread, operands, results;

private:
  static Value allocate(OpBuilder &builder, Location loc, unsigned count) {
    auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
    Value size = LLVM::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(int32_t(std::max(count, 1u))));
    return LLVM::AllocaOp::create(builder, loc, pointer, builder.getI64Type(), size, /*alignment=*/8);
  }
};

class LowerPtxForEmulator : public PassWrapper<LowerPtxForEmulator, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LowerPtxForEmulator)

  StringRef getArgument() const override { return "lower-ptx-for-emulator"; }
  StringRef getDescription() const override { return "lower target instructions to calls of the emulator"; }
  void getDependentDialects(DialectRegistry &registry) const override { registry.insert<LLVM::LLVMDialect>(); }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    const EntryPoints entries = declareEntries(module);
    SmallVector<LLVM::LLVMFuncOp> functions;
    for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
      dropNvvmAttributes(function);
      if (!function.isExternal()) {
        functions.push_back(function);
      }
    }
    llvm::for_each(functions, addThreadArgument);
    for (StringRef name : deviceFunctions) {
      if (auto function = module.lookupSymbol<LLVM::LLVMFuncOp>(name)) {
        addThreadArgument(function);
      }
    }
    SiteTable sites(module);
    for (LLVM::LLVMFuncOp function : functions) {
      if (failed(refuseUncheckedAccesses(function)) || failed(passThreadToCalls(function))) {
        return signalPassFailure();
      }
      countLoops(function, entries.loop, sites);
      lowerInstructions(function, entries.execute, sites);
      lowerTraps(function, entries.trap, sites);
      guardDivisions(function);
    }
  }

private:
  /// What generated code calls.
  struct EntryPoints {
    LLVM::LLVMFuncOp execute, loop, trap;
  };
  static EntryPoints declareEntries(ModuleOp module);
  static void dropNvvmAttributes(LLVM::LLVMFuncOp function);
  static void addThreadArgument(LLVM::LLVMFuncOp function);
  static LogicalResult refuseUncheckedAccesses(LLVM::LLVMFuncOp function);
  static LogicalResult passThreadToCalls(LLVM::LLVMFuncOp function);
  static void lowerInstructions(LLVM::LLVMFuncOp function, LLVM::LLVMFuncOp execute, SiteTable &sites);
  static void countLoops(LLVM::LLVMFuncOp function, LLVM::LLVMFuncOp loop, SiteTable &sites);
  static void lowerTraps(LLVM::LLVMFuncOp function, LLVM::LLVMFuncOp trap, SiteTable &sites);
  static void guardDivisions(LLVM::LLVMFuncOp function);
};

} // namespace

LowerPtxForEmulator::EntryPoints LowerPtxForEmulator::declareEntries(ModuleOp module) {
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  auto pointer = LLVM::LLVMPointerType::get(module.getContext());
  auto nothing = LLVM::LLVMVoidType::get(module.getContext());
  auto declare = [&](StringRef symbol, ArrayRef<Type> arguments) {
    return LLVM::LLVMFuncOp::create(builder, module.getLoc(), symbol, LLVM::LLVMFunctionType::get(nothing, arguments));
  };
  return {declare(executeSymbol, {pointer, builder.getI32Type(), pointer, pointer, pointer}),
          declare(loopSymbol, {pointer, pointer}), declare(trapSymbol, {pointer, pointer, builder.getI32Type()})};
}

static SmallVector<NamedAttribute> withoutNvvm(ArrayRef<NamedAttribute> attributes) {
  return llvm::filter_to_vector(
      attributes, [](NamedAttribute attribute) { return !attribute.getName().strref().starts_with("nvvm."); });
}

void LowerPtxForEmulator::dropNvvmAttributes(LLVM::LLVMFuncOp function) {
  function->setDiscardableAttrs(withoutNvvm(llvm::to_vector(function->getDiscardableAttrDictionary().getValue())));
  auto interface = cast<FunctionOpInterface>(function.getOperation());
  for (unsigned index = 0; index < function.getNumArguments(); ++index) {
    interface.setArgAttrs(index, withoutNvvm(interface.getArgAttrs(index)));
  }
}

void LowerPtxForEmulator::addThreadArgument(LLVM::LLVMFuncOp function) {
  auto pointer = LLVM::LLVMPointerType::get(function.getContext());
  SmallVector<DictionaryAttr> attributes = {DictionaryAttr::get(function.getContext())};
  for (unsigned index = 0; index < function.getNumArguments(); ++index) {
    attributes.push_back(function.getArgAttrDict(index) ? function.getArgAttrDict(index) : attributes.front());
  }
  SmallVector<Type> types = {pointer};
  llvm::append_range(types, function.getFunctionType().getParams());
  function.removeArgAttrsAttr();
  function.setFunctionType(LLVM::LLVMFunctionType::get(function.getFunctionType().getReturnType(), types));
  if (!function.isExternal()) {
    function.getBody().front().insertArgument(0u, pointer, function.getLoc());
  }
  function.setAllArgAttrs(attributes);
}

LogicalResult LowerPtxForEmulator::refuseUncheckedAccesses(LLVM::LLVMFuncOp function) {
  WalkResult result = function.walk([](Operation *op) {
    auto address = llvm::TypeSwitch<Operation *, Value>(op)
                       .Case<LLVM::LoadOp>([](auto access) { return access.getAddr(); })
                       .Case<LLVM::StoreOp>([](auto access) { return access.getAddr(); })
                       .Case<LLVM::AtomicRMWOp, LLVM::AtomicCmpXchgOp>([](auto access) { return access.getPtr(); })
                       .Default([](Operation *) { return Value(); });
    auto type = address ? dyn_cast<LLVM::LLVMPointerType>(address.getType()) : LLVM::LLVMPointerType();
    if (type && (type.getAddressSpace() == 1 || type.getAddressSpace() == 3)) {
      op->emitError("the emulator wants device memory accessed by ptx.inst: got address space ")
          << type.getAddressSpace();
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult LowerPtxForEmulator::passThreadToCalls(LLVM::LLVMFuncOp function) {
  auto module = function->getParentOfType<ModuleOp>();
  WalkResult result = function.walk([&](LLVM::CallOp call) {
    if (!call.getCallee()) {
      call.emitError("the emulator does not run indirect calls");
      return WalkResult::interrupt();
    }
    auto callee = module.lookupSymbol<LLVM::LLVMFuncOp>(*call.getCallee());
    if (callee && (!callee.isExternal() || llvm::is_contained(deviceFunctions, callee.getSymName()))) {
      SmallVector<Value> operands = {function.getArgument(0)};
      llvm::append_range(operands, call.getCalleeOperands());
      call.getCalleeOperandsMutable().assign(operands);
      call.removeArgAttrsAttr();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// A register as a 64-bit word.
static Value toWord(OpBuilder &builder, Location loc, Value value) {
  Type type = value.getType();
  Type word = builder.getI64Type();
  if (isa<LLVM::LLVMPointerType>(type)) {
    return LLVM::PtrToIntOp::create(builder, loc, word, value);
  }
  unsigned bits = isa<VectorType>(type)
                      ? cast<VectorType>(type).getNumElements() * cast<VectorType>(type).getElementTypeBitWidth()
                      : type.getIntOrFloatBitWidth();
  if (!type.isInteger()) {
    value = LLVM::BitcastOp::create(builder, loc, builder.getIntegerType(bits), value);
  }
  return bits == 64 ? value : LLVM::ZExtOp::create(builder, loc, word, value).getResult();
}

static Value fromWord(OpBuilder &builder, Location loc, Value word, Type type) {
  if (isa<LLVM::LLVMPointerType>(type)) {
    return LLVM::IntToPtrOp::create(builder, loc, type, word);
  }
  unsigned bits = type.getIntOrFloatBitWidth();
  if (bits < 64) {
    word = LLVM::TruncOp::create(builder, loc, builder.getIntegerType(bits), word);
  }
  return type.isInteger() ? word : LLVM::BitcastOp::create(builder, loc, type, word).getResult();
}

static Value slot(OpBuilder &builder, Location loc, Value array, size_t index) {
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  return LLVM::GEPOp::create(builder, loc, pointer, builder.getI64Type(), array,
                             ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(index)});
}

static void lowerInstruction(ptx::InstOp op, LLVM::LLVMFuncOp execute, const RegisterFrame &frame, SiteTable &sites) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  for (auto [index, operand] : llvm::enumerate(op.getArgs())) {
    LLVM::StoreOp::create(builder, loc, toWord(builder, loc, operand), slot(builder, loc, frame.operands, index));
  }
  auto row = static_cast<int32_t>(op.instruction() - ptx::allInstructions().data());
  Value rowIndex = LLVM::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(row));
  Value immediates = sites.immediates(builder, loc, op.getImms(), describeLocation(loc));
  auto call = LLVM::CallOp::create(builder, loc, execute,
                                   ValueRange{frame.thread, rowIndex, frame.results, frame.operands, immediates});
  (void)call;
  for (auto [index, result] : llvm::enumerate(op.getValues())) {
    if (!result.use_empty()) {
      Value word = LLVM::LoadOp::create(builder, loc, builder.getI64Type(), slot(builder, loc, frame.results, index));
      result.replaceAllUsesWith(fromWord(builder, loc, word, result.getType()));
    }
  }
  op.erase();
}

void LowerPtxForEmulator::lowerInstructions(LLVM::LLVMFuncOp function, LLVM::LLVMFuncOp execute, SiteTable &sites) {
  SmallVector<ptx::InstOp> instructions;
  unsigned numOperands = 0;
  unsigned numResults = 0;
  function.walk([&](ptx::InstOp op) {
    instructions.push_back(op);
    numOperands = std::max<unsigned>(numOperands, op.getArgs().size());
    numResults = std::max<unsigned>(numResults, op.getNumResults());
  });
  RegisterFrame frame(function, numOperands, numResults);
  for (ptx::InstOp op : instructions) {
    lowerInstruction(op, execute, frame, sites);
  }
}

/// The edges that close a cycle on a walk from the entry: without them the function has none.
static SmallVector<std::pair<Block *, Block *>> backEdges(Region &body) {
  SmallVector<std::pair<Block *, Block *>> edges;
  llvm::DenseSet<Block *> seen, open;
  SmallVector<std::pair<Block *, unsigned>> path = {{&body.front(), 0}};
  seen.insert(&body.front());
  open.insert(&body.front());
  while (!path.empty()) {
    auto &[block, next] = path.back();
    if (next == block->getNumSuccessors()) {
      open.erase(block);
      path.pop_back();
      continue;
    }
    Block *successor = block->getSuccessor(next++);
    if (open.contains(successor)) {
      edges.emplace_back(block, successor);
    } else if (seen.insert(successor).second) {
      open.insert(successor);
      path.emplace_back(successor, 0);
    }
  }
  return edges;
}

/// Whether the function may call itself, by way of others or not.
static bool isRecursive(LLVM::LLVMFuncOp function) {
  auto module = function->getParentOfType<ModuleOp>();
  llvm::SetVector<LLVM::LLVMFuncOp> called;
  auto visit = [&](LLVM::LLVMFuncOp caller) {
    caller.walk([&](LLVM::CallOp call) {
      if (auto callee = module.lookupSymbol<LLVM::LLVMFuncOp>(call.getCallee().value_or(""))) {
        called.insert(callee);
      }
    });
  };
  visit(function);
  for (size_t next = 0; next < called.size() && !called.contains(function); ++next) {
    visit(called[next]);
  }
  return called.contains(function);
}

/// Calls the emulator in each round of a loop that would otherwise run for ever unseen, and of a recursion. Where the
/// block before or after the edge back executes an instruction, that one is counted.
void LowerPtxForEmulator::countLoops(LLVM::LLVMFuncOp function, LLVM::LLVMFuncOp loop, SiteTable &sites) {
  auto count = [&](Operation *before) {
    OpBuilder builder(before);
    Value site = sites.immediates(builder, before->getLoc(), {}, describeLocation(before->getLoc()));
    LLVM::CallOp::create(builder, before->getLoc(), loop, ValueRange{function.getArgument(0), site});
  };
  auto isCounted = [](Block *block) { return !block->getOps<ptx::InstOp>().empty(); };
  for (auto [from, to] : backEdges(function.getBody())) {
    if (!isCounted(from) && !isCounted(to)) {
      count(from->getTerminator());
    }
  }
  if (isRecursive(function)) {
    count(&function.getBody().front().front());
  }
}

/// A trap, or a place that the compiler was told is never reached, ends the run with a finding and not the process.
void LowerPtxForEmulator::lowerTraps(LLVM::LLVMFuncOp function, LLVM::LLVMFuncOp trap, SiteTable &sites) {
  SmallVector<Operation *> places;
  function.walk([&](Operation *op) {
    if (isa<LLVM::Trap, LLVM::DebugTrap, LLVM::UBSanTrap, LLVM::UnreachableOp>(op)) {
      places.push_back(op);
    }
  });
  for (Operation *op : places) {
    OpBuilder builder(op);
    Location loc = op->getLoc();
    const bool unreachable = isa<LLVM::UnreachableOp>(op);
    Value site = sites.immediates(builder, loc, {}, describeLocation(loc));
    Value isUnreachable = LLVM::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(unreachable));
    LLVM::CallOp::create(builder, loc, trap, ValueRange{function.getArgument(0), site, isUnreachable});
    if (!unreachable) {
      op->erase();
    }
  }
}

/// A divisor by which the host can divide: 1 in place of 0 and, of signed ones, of the -1 whose quotient overflows.
static Value safeDivisor(OpBuilder &builder, Operation *op, bool isSigned) {
  Location loc = op->getLoc();
  Value dividend = op->getOperand(0);
  Value divisor = op->getOperand(1);
  auto type = cast<IntegerType>(divisor.getType());
  auto constant = [&](const APInt &value) -> Value {
    return LLVM::ConstantOp::create(builder, loc, builder.getIntegerAttr(type, value));
  };
  auto equals = [&](Value value, const APInt &wanted) -> Value {
    return LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::eq, value, constant(wanted));
  };
  unsigned bits = type.getWidth();
  Value traps = equals(divisor, APInt(bits, 0));
  if (isSigned) {
    Value overflows = LLVM::AndOp::create(builder, loc, equals(divisor, APInt::getAllOnes(bits)),
                                          equals(dividend, APInt::getSignedMinValue(bits)));
    traps = LLVM::OrOp::create(builder, loc, traps, overflows);
  }
  return LLVM::SelectOp::create(builder, loc, traps, constant(APInt(bits, 1)), divisor);
}

void LowerPtxForEmulator::guardDivisions(LLVM::LLVMFuncOp function) {
  function.walk([](Operation *op) {
    if (!isa<LLVM::SDivOp, LLVM::UDivOp, LLVM::SRemOp, LLVM::URemOp>(op) ||
        !isa<IntegerType>(op->getResult(0).getType())) {
      return;
    }
    APInt divisor;
    if (matchPattern(op->getOperand(1), m_ConstantInt(&divisor)) && !divisor.isZero() && !divisor.isAllOnes()) {
      return;
    }
    OpBuilder builder(op);
    op->setOperand(1, safeDivisor(builder, op, isa<LLVM::SDivOp, LLVM::SRemOp>(op)));
  });
}

std::unique_ptr<Pass> createLowerPtxForEmulatorPass() { return std::make_unique<LowerPtxForEmulator>(); }

void registerLowerPtxForEmulatorPass() { registerPass(createLowerPtxForEmulatorPass); }

} // namespace jitk::emulator
