// Debugging aids. tt.assert says on the device's console what failed and where, and stops the kernel; tt.print is
// accepted and has no effect.

#include "backends/nvidia/codegen/lowering/FunctionLowering.h"

#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace jitk::ir;

namespace jitk::nvidia {

/// The function of CUDA's device runtime that reports an assertion: message, file, line, function, bytes of a
/// character.
static constexpr llvm::StringLiteral kAssertFail = "__assertfail";

/// Where the op stands in the user's source; an empty file if nothing says it.
static FileLineColLoc sourceOf(Operation *op) {
  auto found = op->getLoc()->findInstanceOf<FileLineColLoc>();
  return found ? found : FileLineColLoc::get(op->getContext(), "", 0, 0);
}

/// The generic address of a zero-terminated string. Equal strings are one.
static Value stringConstant(ModuleOp module, LoweringBuilder &b, llvm::StringRef text) {
  constexpr unsigned kGlobalSpace = 1;
  std::string bytes = text.str() + '\0', name = "string_" + llvm::utohexstr(llvm::xxh3_64bits(text));
  auto global = module.lookupSymbol<LLVM::GlobalOp>(name);
  for (unsigned next = 0; global && cast<StringAttr>(global.getValueAttr()).getValue() != bytes; ++next) {
    name += "_" + std::to_string(next);
    global = module.lookupSymbol<LLVM::GlobalOp>(name);
  }
  if (!global) {
    OpBuilder top = OpBuilder::atBlockBegin(module.getBody());
    global = LLVM::GlobalOp::create(top, module.getLoc(), LLVM::LLVMArrayType::get(b.getI8Type(), bytes.size()),
                                    /*isConstant=*/true, LLVM::Linkage::Internal, name, top.getStringAttr(bytes),
                                    /*alignment=*/1, kGlobalSpace);
  }
  auto generic = LLVM::LLVMPointerType::get(module.getContext());
  return LLVM::AddrSpaceCastOp::create(b, b.loc(), generic, LLVM::AddressOfOp::create(b, b.loc(), global));
}

static LLVM::LLVMFuncOp declareAssertFail(ModuleOp module) {
  if (auto known = module.lookupSymbol<LLVM::LLVMFuncOp>(kAssertFail)) {
    return known;
  }
  MLIRContext *context = module.getContext();
  OpBuilder top = OpBuilder::atBlockBegin(module.getBody());
  Type pointer = LLVM::LLVMPointerType::get(context);
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context),
                                          {pointer, pointer, top.getI32Type(), pointer, top.getI64Type()});
  return LLVM::LLVMFuncOp::create(top, module.getLoc(), kAssertFail, type);
}

static LogicalResult lowerAssert(tt::AssertOp op, FunctionLowering &f) {
  LoweringBuilder &b = f.builder();
  // One report for all elements of the thread.
  Value fails;
  for (Value condition : llvm::SetVector<Value>(llvm::from_range, f.registers(op.getCondition()))) {
    Value isFalse = b.equal(condition, 0);
    fails = fails ? b.bitOr(fails, isFalse) : isFalse;
  }
  auto module = op->getParentOfType<ModuleOp>();
  FileLineColLoc source = sourceOf(op);
  f.ifThen(fails, [&] {
    Value message = stringConstant(module, b, op.getMessage()), file = stringConstant(module, b, source.getFilename()),
          function = stringConstant(module, b, op->getParentOfType<tt::FuncOp>().getSymName());
    LLVM::CallOp::create(b, b.loc(), declareAssertFail(module),
                         ValueRange{message, file, b.i32(source.getLine()), function, b.i64(1)});
    // What comes after may rely on the assertion.
    b.inst("trap", b.boolean(true));
  });
  return success();
}

static LogicalResult lowerPrint(tt::PrintOp, FunctionLowering &) { return success(); }

void populateAssertLowerings(LoweringTable &table) {
  table.add(lowerAssert);
  table.add(lowerPrint);
}

} // namespace jitk::nvidia
