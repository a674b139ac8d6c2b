#include "backends/nvidia/codegen/ConvertPtxToLlvm.h"

#include "src/ir/ptx/Ptx.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace jitk::ir;

namespace jitk::nvidia {

/// Puts the decimal text of the immediates into the row's text.
static std::string expandImmediates(StringRef assembly, ArrayRef<int64_t> immediates) {
  std::string text = assembly.str();
  for (auto [index, value] : llvm::enumerate(immediates)) {
    std::string marker = "%" + std::to_string(index) + "%";
    for (size_t at = text.find(marker); at != std::string::npos; at = text.find(marker, at)) {
      text.replace(at, marker.size(), std::to_string(value));
    }
  }
  return text;
}

/// LLVM's constraint string: results, then operands in the order of the text's placeholders, then the memory clobber.
static std::string constraintsOf(const ptx::Instruction &row) {
  SmallVector<std::string> constraints;
  for (char letter : row.results) {
    constraints.push_back(std::string("=") + letter);
  }
  for (auto [index, letter] : llvm::enumerate(row.operands)) {
    int result = row.tiedOperands < 0 ? -1 : static_cast<int>(index) - row.tiedOperands;
    bool tied = result >= 0 && result < static_cast<int>(row.results.size());
    constraints.push_back(tied ? std::to_string(result) : std::string(1, letter));
  }
  if (row.effects == ptx::Effects::Memory || row.effects == ptx::Effects::ReadMemory) {
    constraints.push_back("~{memory}");
  }
  return llvm::join(constraints, ",");
}

namespace {
class ConvertPtxToLlvm : public PassWrapper<ConvertPtxToLlvm, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ConvertPtxToLlvm)

  StringRef getArgument() const override { return "convert-ptx-to-llvm"; }
  StringRef getDescription() const override { return "lower target instructions to inline PTX and intrinsics"; }
  void getDependentDialects(DialectRegistry &registry) const override { registry.insert<LLVM::LLVMDialect>(); }

  void runOnOperation() override {
    getOperation().walk([&](ptx::InstOp op) {
      OpBuilder builder(op);
      const ptx::Instruction &row = *op.instruction();
      if (row.handler == ptx::Handler::SharedBase) {
        replace(op, sharedBase(builder, op.getLoc()));
      } else if (!row.intrinsic.empty()) {
        replace(op, intrinsicCall(builder, op, row));
      } else {
        replace(op, inlineAssembly(builder, op, row));
      }
    });
  }

private:
  /// LLVM sees an aligned symbol, so that it can fold the low bits of addresses.
  Value sharedBase(OpBuilder &builder, Location loc) {
    auto pointer = LLVM::LLVMPointerType::get(builder.getContext(), 3);
    auto address = LLVM::AddressOfOp::create(builder, loc, pointer, declareSharedMemory().getSymName());
    return LLVM::PtrToIntOp::create(builder, loc, builder.getI32Type(), address);
  }

  LLVM::GlobalOp declareSharedMemory() {
    ModuleOp module = getOperation();
    if (auto global = module.lookupSymbol<LLVM::GlobalOp>(dynamicSharedSymbol)) {
      return global;
    }
    OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
    auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), 0);
    return LLVM::GlobalOp::create(builder, module.getLoc(), type, /*isConstant=*/false, LLVM::Linkage::External,
                                  dynamicSharedSymbol, /*value=*/Attribute(), /*alignment=*/1024, /*addrSpace=*/3);
  }

  static Operation *intrinsicCall(OpBuilder &builder, ptx::InstOp op, const ptx::Instruction &row) {
    return LLVM::CallIntrinsicOp::create(builder, op.getLoc(), op.getResultTypes(),
                                         builder.getStringAttr(row.intrinsic), op.getArgs(), LLVM::FastmathFlagsAttr());
  }

  static Operation *inlineAssembly(OpBuilder &builder, ptx::InstOp op, const ptx::Instruction &row) {
    Type result;
    if (op.getNumResults() == 1) {
      result = op.getResultTypes().front();
    } else if (op.getNumResults() > 1) {
      result = LLVM::LLVMStructType::getLiteral(builder.getContext(), llvm::to_vector(op.getResultTypes()));
    }
    return LLVM::InlineAsmOp::create(builder, op.getLoc(), result ? TypeRange(result) : TypeRange(), op.getArgs(),
                                     expandImmediates(row.assembly, op.getImms()), constraintsOf(row),
                                     /*has_side_effects=*/row.effects != ptx::Effects::Pure,
                                     /*is_align_stack=*/false, LLVM::tailcallkind::TailCallKind::None,
                                     /*asm_dialect=*/LLVM::AsmDialectAttr(), /*operand_attrs=*/ArrayAttr());
  }

  static void replace(ptx::InstOp op, Operation *call) {
    if (op.getNumResults() <= 1) {
      op->replaceAllUsesWith(call->getResults());
    } else {
      OpBuilder builder(op);
      for (auto [index, value] : llvm::enumerate(op.getValues())) {
        if (!value.use_empty()) {
          value.replaceAllUsesWith(LLVM::ExtractValueOp::create(builder, op.getLoc(), call->getResult(0), index));
        }
      }
    }
    op.erase();
  }
  static void replace(ptx::InstOp op, Value value) {
    op.getValues()[0].replaceAllUsesWith(value);
    op.erase();
  }
};
} // namespace

std::unique_ptr<Pass> createConvertPtxToLlvmPass() { return std::make_unique<ConvertPtxToLlvm>(); }

void registerConvertPtxToLlvmPass() { registerPass(createConvertPtxToLlvmPass); }

} // namespace jitk::nvidia
