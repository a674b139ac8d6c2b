#include "src/ir/llvm/LlvmModule.h"

#include "src/ir/Verification.h"
#include "src/ir/llvm/KeepInvariants.h"

#include "mlir/Target/LLVMIR/Export.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/OptBisect.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

namespace jitk::ir {

Result<std::unique_ptr<llvm::TargetMachine>> createTargetMachine(const MachineDescription &description) {
  std::string error;
  const llvm::Target *backend = llvm::TargetRegistry::lookupTarget(description.triple, error);
  if (!backend) {
    return unavailable("LLVM has no code generator for " + description.triple.str() + ": " + error);
  }
  std::unique_ptr<llvm::TargetMachine> machine(
      backend->createTargetMachine(description.triple, description.cpu, description.features, description.options,
                                   llvm::Reloc::PIC_, std::nullopt, description.level));
  if (!machine) {
    return internalError("LLVM has no target machine for " + description.cpu);
  }
  return machine;
}

/// Leaves out one pass.
class LlvmModule::PassGate final : public llvm::OptPassGate {
public:
  explicit PassGate(llvm::StringRef pass) : pass_(pass) {}

  bool isEnabled() const override { return true; }
  bool shouldRunPass(llvm::StringRef pass, llvm::StringRef) const override { return pass != pass_; }

private:
  std::string pass_;
};

static void collectErrors(const llvm::DiagnosticInfo *info, void *errors) {
  if (info->getSeverity() != llvm::DS_Error) {
    return;
  }
  llvm::raw_string_ostream stream(*static_cast<std::string *>(errors));
  llvm::DiagnosticPrinterRawOStream printer(stream);
  info->print(printer);
  stream << "\n";
}

LlvmModule::LlvmModule(llvm::TargetMachine &machine) : machine_(machine) {
  context_.setDiagnosticHandlerCallBack(collectErrors, &errors_);
}

LlvmModule::~LlvmModule() = default;

Result<std::unique_ptr<LlvmModule>> LlvmModule::translate(mlir::ModuleOp module, llvm::TargetMachine &machine) {
  std::unique_ptr<LlvmModule> result(new LlvmModule(machine));
  result->module_ = mlir::translateModuleToLLVMIR(module, result->context_, "LLVMDialectModule",
                                                  /*disableVerification=*/!kVerifyEach);
  if (!result->module_) {
    return internalError("the translation to LLVM IR failed");
  }
  result->module_->setTargetTriple(machine.getTargetTriple());
  result->module_->setDataLayout(machine.createDataLayout());
  return result;
}

/// O3's function passes in its order, each once or twice. What it has beside them finds nothing in kernels that call no
/// function of their module: calls, globals, loops to vectorize, branches to thread.
static constexpr const char *kPipelineOfKernels = "function(sroa,early-cse<memssa>,simplifycfg,instcombine<no-verify-"
                                                  "fixpoint>,reassociate,loop-mssa(loop-rotate,licm),"
                                                  "loop(indvars,loop-deletion,loop-unroll-full),sroa,gvn,sccp,bdce,"
                                                  "instcombine<no-verify-fixpoint>,adce,loop-mssa(licm),simplifycfg)";

static void keepInvariants(llvm::Function &function) {
  llvm::DominatorTree dominators(function);
  llvm::LoopInfo loops(dominators);
  for (llvm::Loop *loop : loops.getLoopsInPreorder()) {
    llvm::addStringMetadataToLoop(loop, "llvm.licm.disable", true);
  }
}

Status LlvmModule::optimize() {
  for (llvm::Function &function : *module_) {
    if (function.hasFnAttribute(kKeepInvariants)) {
      keepInvariants(function);
    }
  }
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = false;
  tuning.SLPVectorization = false;
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine_, tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::ModulePassManager passes;
  auto isCalled = [](const llvm::Function &function) { return !function.isDeclaration() && !function.use_empty(); };
  if (llvm::any_of(*module_, isCalled)) {
    passes = builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3);
  } else if (llvm::Error error = builder.parsePassPipeline(passes, kPipelineOfKernels)) {
    return internalError("LLVM refused the pipeline: " + llvm::toString(std::move(error)));
  }
  passes.run(*module_, modules);
  return okStatus();
}

void LlvmModule::skipInCodeGenerator(llvm::StringRef pass) {
  gate_ = std::make_unique<PassGate>(pass);
  context_.setOptPassGate(*gate_);
}

std::string LlvmModule::print() const {
  std::string text;
  llvm::raw_string_ostream(text) << *module_;
  return text;
}

Result<llvm::SmallString<0>> LlvmModule::generate(llvm::CodeGenFileType type) {
  llvm::SmallString<0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if (machine_.addPassesToEmitFile(passes, stream, nullptr, type)) {
    return internalError("LLVM's code generator for " + machine_.getTargetTriple().str() + " cannot emit this");
  }
  passes.run(*module_);
  if (!errors_.empty()) {
    return internalError("LLVM refused the module").withToolOutput(errors_);
  }
  return bytes;
}

} // namespace jitk::ir
