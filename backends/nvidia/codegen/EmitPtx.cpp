#include "backends/nvidia/codegen/EmitPtx.h"

#include "backends/nvidia/codegen/Architecture.h"
#include "backends/nvidia/codegen/ConvertPtxToLlvm.h"
#include "backends/nvidia/codegen/InstructionGate.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"

#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

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

static Result<std::unique_ptr<llvm::TargetMachine>> createTargetMachine(const Target &target, unsigned version) {
  llvm::Triple triple("nvptx64-nvidia-cuda");
  std::string error;
  const llvm::Target *backend = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!backend) {
    return internalError("LLVM was built without NVPTX: " + error);
  }
  std::string cpu = architectureName(target);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Fast;
  options.TrapUnreachable = true;
  std::unique_ptr<llvm::TargetMachine> machine(
      backend->createTargetMachine(triple, cpu, "+ptx" + std::to_string(version), options, llvm::Reloc::PIC_,
                                   std::nullopt, llvm::CodeGenOptLevel::Aggressive));
  if (!machine) {
    return internalError("LLVM has no target machine for " + cpu);
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

static void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::PipelineTuningOptions tuning;
  // Tiles are unrolled by construction; loops that are left have too few iterations to be worth a vector body.
  tuning.LoopVectorization = false;
  tuning.SLPVectorization = true;
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
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3).run(module, modules);
}

static Result<std::string> generate(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile)) {
    return internalError("NVPTX cannot emit text");
  }
  passes.run(module);
  return text.str().str();
}

static Status convertInstructions(ModuleOp module) {
  PassManager passes(module.getContext());
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
  JITK_ASSIGN(std::unique_ptr<llvm::TargetMachine> machine, createTargetMachine(target, result.version));
  llvm::LLVMContext llvmContext;
  std::string errors;
  llvmContext.setDiagnosticHandlerCallBack(collectErrors, &errors);
  std::unique_ptr<llvm::Module> llvmModule = translateModuleToLLVMIR(module, llvmContext);
  if (!llvmModule) {
    return internalError("the translation to LLVM IR failed");
  }
  llvmModule->setTargetTriple(machine->getTargetTriple());
  llvmModule->setDataLayout(machine->createDataLayout());
  markConvergent(*llvmModule);
  optimize(*llvmModule, *machine);
  JITK_TRY(gateCalls(*llvmModule));
  if (options.keepLlvm) {
    llvm::raw_string_ostream(result.llvmIr) << *llvmModule;
  }
  JITK_ASSIGN(result.ptx, generate(*llvmModule, *machine));
  if (!errors.empty()) {
    return internalError("LLVM refused the module").withToolOutput(std::move(errors));
  }
  return result;
}

} // namespace jitk::nvidia
