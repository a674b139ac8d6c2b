#include "src/emulator/HostCompiler.h"

#include "src/emulator/HostEntry.h"
#include "src/emulator/LowerPtxForEmulator.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"

#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
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

static Result<std::unique_ptr<llvm::TargetMachine>> createTargetMachine() {
  llvm::Triple triple(llvm::sys::getProcessTriple());
  std::string error;
  const llvm::Target *backend = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!backend) {
    return unavailable("the emulator has no code generator for this host: " + error);
  }
  llvm::TargetOptions options;
  // Fast instruction selection halves the time to compile; kernels spend theirs in the emulator's handlers anyway.
  std::unique_ptr<llvm::TargetMachine> machine(backend->createTargetMachine(
      triple, hostCpu, "", options, llvm::Reloc::PIC_, std::nullopt, llvm::CodeGenOptLevel::None));
  if (!machine) {
    return internalError("LLVM has no target machine for this host");
  }
  return machine;
}

/// Collects what LLVM reports, instead of printing it.
static void collectErrors(const llvm::DiagnosticInfo *info, void *errors) {
  if (info->getSeverity() != llvm::DS_Error) {
    return;
  }
  llvm::raw_string_ostream stream(*static_cast<std::string *>(errors));
  llvm::DiagnosticPrinterRawOStream printer(stream);
  info->print(printer);
  stream << "\n";
}

static std::vector<KernelSignature> collectKernels(ModuleOp module) {
  std::vector<KernelSignature> kernels;
  for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
    if (!function->hasAttr("nvvm.kernel") || function.isExternal()) {
      continue;
    }
    KernelSignature kernel = {function.getSymName().str(), 0};
    if (auto threads = function->getAttrOfType<DenseI32ArrayAttr>("nvvm.reqntid")) {
      kernel.maxThreads = 1;
      for (int32_t axis : threads.asArrayRef()) {
        kernel.maxThreads *= uint32_t(axis);
      }
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

static void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = false;
  tuning.SLPVectorization = false;
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine, tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O1).run(module, modules);
}

static Result<std::vector<uint8_t>> generate(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::ObjectFile)) {
    return internalError("the host's code generator cannot emit objects");
  }
  passes.run(module);
  return std::vector<uint8_t>(bytes.begin(), bytes.end());
}

Result<HostObject> compileForHost(ModuleOp module, bool keepLlvm) {
  initializeOnce();
  JITK_ASSIGN(std::unique_ptr<llvm::TargetMachine> machine, createTargetMachine());
  const std::vector<KernelSignature> kernels = collectKernels(module);
  JITK_TRY(lower(module));

  llvm::LLVMContext context;
  std::string errors;
  context.setDiagnosticHandlerCallBack(collectErrors, &errors);
  std::unique_ptr<llvm::Module> llvmModule = translateModuleToLLVMIR(module, context);
  if (!llvmModule) {
    return internalError("the translation to LLVM IR failed");
  }
  llvmModule->setTargetTriple(machine->getTargetTriple());
  llvmModule->setDataLayout(machine->createDataLayout());
  annotate(*llvmModule);
  addHostEntries(*llvmModule, kernels);
  optimize(*llvmModule, *machine);

  HostObject object;
  if (keepLlvm) {
    llvm::raw_string_ostream(object.llvmIr) << *llvmModule;
  }
  JITK_ASSIGN(object.code, generate(*llvmModule, *machine));
  if (!errors.empty()) {
    return internalError("LLVM refused the module").withToolOutput(std::move(errors));
  }
  return object;
}

} // namespace jitk::emulator
