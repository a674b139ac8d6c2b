// tt.assert says on the device's console what failed and where, and stops the kernel.

#include "backends/nvidia/codegen/lowering/DeviceRuntime.h"
#include "backends/nvidia/codegen/lowering/FunctionLowering.h"

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

static LLVM::LLVMFuncOp declareAssertFail(ModuleOp module) {
  Builder b(module.getContext());
  Type pointer = LLVM::LLVMPointerType::get(module.getContext());
  return deviceFunction(module, kAssertFail,
                        LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(module.getContext()),
                                                    {pointer, pointer, b.getI32Type(), pointer, b.getI64Type()}));
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

void populateAssertLowerings(LoweringTable &table) { table.add(lowerAssert); }

} // namespace jitk::nvidia
