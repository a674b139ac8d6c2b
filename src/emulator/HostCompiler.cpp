#include "src/emulator/HostCompiler.h"

#include "src/emulator/HostEntry.h"
#include "src/emulator/LowerPtxForEmulator.h"
#include "src/ir/Verification.h"
#include "src/ir/llvm/LlvmModule.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"

#include "llvm/IR/DebugInfo.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"

#include <mutex>

using namespace mlir;

namespace jitk::emulator {

// The level of x86 that objects are compiled for, so that a stored object runs on any machine of the last ten years.
static constexpr const char *hostCpu = "x86-64-v3";

std::string hostCompilerIdentity() {
  return std::string("llvm ") + LLVM_VERSION_STRING + " " + hostCpu + " table " +
         llvm::utohexstr(instructionTableHash());
}

static void initializeOnce() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
  });
}

static Result<std::unique_ptr<llvm::TargetMachine>> createMachine() {
  // Fast instruction selection halves the time to compile; kernels spend theirs in the emulator's handlers anyway.
  return ir::createTargetMachine({.triple = llvm::Triple(llvm::sys::getProcessTriple()),
                                  .cpu = hostCpu,
                                  .features = "",
                                  .options = {},
                                  .level = llvm::CodeGenOptLevel::None});
}

static std::vector<KernelSignature> collectKernels(ModuleOp module) {
  std::vector<KernelSignature> kernels;
  for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
    if (!function->hasAttr("nvvm.kernel") || function.isExternal()) {
      continue;
    }
    KernelSignature kernel = {.name = function.getSymName().str()};
    if (auto threads = function->getAttrOfType<DenseI32ArrayAttr>("nvvm.reqntid")) {
      kernel.maxThreads = 1;
      for (int32_t axis : threads.asArrayRef()) {
        kernel.maxThreads *= uint32_t(axis);
      }
    }
    if (auto registers = function->getAttrOfType<IntegerAttr>("nvvm.maxnreg")) {
      kernel.maxRegisters = uint32_t(registers.getInt());
    }
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

static Status lower(ModuleOp module) {
  DialectRegistry registry;
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  module.getContext()->appendDialectRegistry(registry);
  PassManager passes(module.getContext());
  passes.enableVerifier(ir::kVerifyEach);
  passes.addPass(createLowerPtxForEmulatorPass());
  return failed(passes.run(module)) ? internalError("lower-ptx-for-emulator failed") : okStatus();
}

/// What the optimizer may know of the emulator's entry, and what it must not assume of a GPU's code.
static void annotate(llvm::Module &module) {
  llvm::StripDebugInfo(module);
  for (llvm::Function &function : module) {
    function.addFnAttr(llvm::Attribute::NoUnwind);
    function.removeFnAttr("target-cpu");
    function.removeFnAttr("target-features");
  }
  if (llvm::Function *trap = module.getFunction("jitk_emulator_trap")) {
    trap->addFnAttr(llvm::Attribute::Cold);
    trap->addFnAttr(llvm::Attribute::NoReturn);
  }
  if (llvm::Function *execute = module.getFunction("jitk_emulator_execute")) {
    execute->addFnAttr(llvm::Attribute::Convergent);
    for (unsigned argument : {2u, 3u, 4u}) {
      execute->addParamAttr(argument,
                            llvm::Attribute::getWithCaptureInfo(module.getContext(), llvm::CaptureInfo::none()));
    }
    execute->addParamAttr(3, llvm::Attribute::ReadOnly);
    execute->addParamAttr(4, llvm::Attribute::ReadOnly);
  }
}

Result<HostObject> compileForHost(ModuleOp module, bool keepLlvm) {
  initializeOnce();
  JITK_ASSIGN(std::unique_ptr<llvm::TargetMachine> machine, createMachine());
  const std::vector<KernelSignature> kernels = collectKernels(module);
  JITK_TRY(lower(module));
  JITK_ASSIGN(std::unique_ptr<ir::LlvmModule> llvmModule, ir::LlvmModule::translate(module, *machine));
  annotate(**llvmModule);
  JITK_TRY(llvmModule->optimize());
  // Entries hold nothing to optimize; with them the module would be one whose functions call each other.
  addHostEntries(**llvmModule, kernels);

  HostObject object;
  if (keepLlvm) {
    object.llvmIr = llvmModule->print();
  }
  JITK_ASSIGN(llvm::SmallString<0> code, llvmModule->generate(llvm::CodeGenFileType::ObjectFile));
  object.code.assign(code.begin(), code.end());
  return object;
}

} // namespace jitk::emulator
