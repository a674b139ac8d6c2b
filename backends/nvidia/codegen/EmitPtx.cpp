#include "backends/nvidia/codegen/EmitPtx.h"

#include "backends/nvidia/codegen/ConvertPtxToLlvm.h"
#include "backends/nvidia/codegen/InstructionGate.h"
#include "src/ir/Verification.h"
#include "src/ir/llvm/LlvmModule.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"

#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/TargetSelect.h"

#include <mutex>

using namespace mlir;

namespace jitk::nvidia {

static void setProcessOption(StringRef name) {
  auto &options = llvm::cl::getRegisteredOptions();
  auto found = options.find(name);
  if (found != options.end()) {
    static_cast<llvm::cl::opt<bool> *>(found->second)->setValue(true);
  }
}

static void initializeOnce() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    setProcessOption("nvptx-mad-wide-opt");
  });
}

static Result<std::unique_ptr<llvm::TargetMachine>> createMachine(const Target &target, unsigned version) {
  ir::MachineDescription description = {.triple = llvm::Triple("nvptx64-nvidia-cuda"),
                                        .cpu = target.architecture(),
                                        .features = "+ptx" + std::to_string(version),
                                        .options = {},
                                        .level = llvm::CodeGenOptLevel::Aggressive};
  description.options.AllowFPOpFusion = llvm::FPOpFusion::Fast;
  description.options.TrapUnreachable = true;
  return ir::createTargetMachine(description);
}

/// Inline PTX with effects may synchronize or exchange values within a warp: LLVM must not move it into or out of
/// divergent control flow, nor duplicate it.
static void markConvergent(llvm::Module &module) {
  for (llvm::Function &function : module) {
    if (!function.isDeclaration()) {
      function.addFnAttr(llvm::Attribute::NoUnwind);
    }
    for (llvm::Instruction &instruction : llvm::instructions(function)) {
      auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction);
      auto *assembly = call ? llvm::dyn_cast<llvm::InlineAsm>(call->getCalledOperand()) : nullptr;
      if (!assembly) {
        continue;
      }
      call->setDoesNotThrow();
      if (assembly->hasSideEffects()) {
        call->setConvergent();
      }
    }
  }
}

static Status convertInstructions(ModuleOp module) {
  PassManager passes(module.getContext());
  passes.enableVerifier(ir::kVerifyEach);
  passes.addPass(createConvertPtxToLlvmPass());
  if (failed(passes.run(module))) {
    return internalError("convert-ptx-to-llvm failed");
  }
  return okStatus();
}

static void registerTranslations(MLIRContext &context) {
  DialectRegistry registry;
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
  context.appendDialectRegistry(registry);
  context.loadDialect<NVVM::NVVMDialect>();
}

Result<PtxModule> emitPtx(ModuleOp module, const Target &target, const EmitPtxOptions &options) {
  PtxModule result;
  JITK_ASSIGN(result.version, gateInstructions(module, target));
  registerTranslations(*module.getContext());
  JITK_TRY(convertInstructions(module));

  initializeOnce();
  JITK_ASSIGN(std::unique_ptr<llvm::TargetMachine> machine, createMachine(target, result.version));
  JITK_ASSIGN(std::unique_ptr<ir::LlvmModule> llvmModule, ir::LlvmModule::translate(module, *machine));
  markConvergent(**llvmModule);
  JITK_TRY(llvmModule->optimize());
  JITK_TRY(gateCalls(**llvmModule));
  if (options.keepLlvm) {
    result.llvmIr = llvmModule->print();
  }
  if (target.capability < 90) {
    // The many fragments of mma.sync have many addresses: the pass takes a quarter of the time and saves nothing.
    llvmModule->skipInCodeGenerator("slsr");
  }
  JITK_ASSIGN(llvm::SmallString<0> ptx, llvmModule->generate(llvm::CodeGenFileType::AssemblyFile));
  result.ptx = ptx.str().str();
  return result;
}

} // namespace jitk::nvidia
