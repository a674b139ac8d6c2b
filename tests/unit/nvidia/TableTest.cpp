// Each row of the instruction table through LLVM and ptxas: constraints, tied registers, intrinsics. That each row's
// text is right for each target is the table's own test.

#include "backends/nvidia/codegen/Assembler.h"
#include "backends/nvidia/codegen/EmitPtx.h"
#include "src/ir/ptx/Ptx.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

#include <doctest/doctest.h>

using namespace mlir;
using namespace jitk;
using namespace jitk::ir;

namespace {
int64_t immediateOf(const ptx::Instruction &row, unsigned index) {
  switch (row.handler) {
  case ptx::Handler::SetMaxRegister:
    return 64;
  case ptx::Handler::BarrierCta:
  case ptx::Handler::BarrierArrive:
    return index == 0 && row.params[0] == 0 ? 1 : 64; // the barrier's number, where no operand is; threads
  case ptx::Handler::TensormapReplace:
    return 1;
  case ptx::Handler::Wgmma:
    return index < 2 ? 1 : 0;
  default:
    return 0;
  }
}

/// One function for all registers of a row: arguments are loaded from memory, since hundreds of them are more than a
/// kernel takes; results are stored, so that nothing is dropped.
void addKernel(ModuleOp module, const ptx::Instruction &row, unsigned index) {
  auto builder = ImplicitLocOpBuilder::atBlockEnd(module.getLoc(), module.getBody());
  auto pointer = LLVM::LLVMPointerType::get(module.getContext(), 1);
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(module.getContext()), {pointer});
  auto function = LLVM::LLVMFuncOp::create(builder, "row" + std::to_string(index), type);
  function->setAttr("nvvm.kernel", builder.getUnitAttr());
  function->setAttr("nvvm.reqntid", builder.getDenseI32ArrayAttr({128}));
  builder.setInsertionPointToStart(function.addEntryBlock(builder));
  Value memory = function.getArgument(0);
  auto place = [&](unsigned i) -> Value {
    return LLVM::GEPOp::create(builder, pointer, builder.getI64Type(), memory, ArrayRef<LLVM::GEPArg>{int32_t(i)});
  };
  SmallVector<Value> operands;
  for (auto [i, letter] : llvm::enumerate(row.operands)) {
    operands.push_back(LLVM::LoadOp::create(builder, ptx::registerType(module.getContext(), letter), place(i), 8,
                                            /*isVolatile=*/true));
  }
  SmallVector<int64_t> immediates;
  for (unsigned i = 0; i < row.numImmediates; ++i) {
    immediates.push_back(immediateOf(row, i));
  }
  auto op = ptx::InstOp::create(builder, row.form, operands, immediates);
  for (auto [i, value] : llvm::enumerate(op.getValues())) {
    LLVM::StoreOp::create(builder, value, place(i), 8, /*isVolatile=*/true);
  }
  LLVM::ReturnOp::create(builder, ValueRange{});
}
} // namespace

TEST_SUITE("nvidia/Table") {
  TEST_CASE("each row goes through LLVM and ptxas") {
    auto assembler = nvidia::openAssembler({.name = "ptxas"});
    if (!assembler) {
      MESSAGE("SKIPPED: the rows were not assembled: " << assembler.status().toString());
    }
    const Target targets[] = {{.capability = 80},
                              {.capability = 89},
                              {.capability = 90, .archSpecific = true},
                              {.capability = 120, .archSpecific = true}};
    std::set<std::string> seen;
    for (const Target &target : targets) {
      MLIRContext context;
      context.loadDialect<ptx::PtxDialect, LLVM::LLVMDialect, NVVM::NVVMDialect>();
      OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
      for (auto [index, row] : llvm::enumerate(ptx::allInstructions())) {
        if (row.runsOn(target.capability, target.archSpecific) && seen.insert(row.form).second) {
          addKernel(*module, row, index);
        }
      }
      Result<nvidia::PtxModule> emitted = nvidia::emitPtx(*module, target);
      REQUIRE_MESSAGE(emitted, emitted.status().toString() << "\n" << emitted.status().toolOutput());
      if (assembler) {
        Result<nvidia::Cubin> cubin = (*assembler)->assemble(emitted->ptx, target);
        CHECK_MESSAGE(cubin, cubin.status().toString() << "\n" << cubin.status().toolOutput());
      }
    }
    CHECK(seen.size() == ptx::allInstructions().size());
  }
}
