// The compiler library: description in, machine code and launch recipe out.

#include "src/compiler/CompilerLibrary.h"

#include "backends/nvidia/codegen/EmitPtx.h"
#include "backends/nvidia/codegen/InstructionGate.h"
#include "src/compiler/CudaCompilation.h"
#include "src/compiler/DiagnosticCollector.h"
#include "src/compiler/Pipelines.h"
#include "src/compiler/Stopwatch.h"
#include "src/compiler/TensorMaps.h"
#include "src/emulator/EmulatorBackend.h"
#include "src/ir/Verification.h"
#include "src/ir/ttg/Ttg.h"
#include "src/kernels/Kernel.h"
#include "src/kernels/user/IrKernel.h"
#include "src/runtime/BuildId.h"
#include "src/runtime/Compiler.h"
#include "src/runtime/SharedMemory.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SHA256.h"

#include <algorithm>
#include <mutex>
#include <tuple>

using namespace mlir;

namespace jitk::compiler {
namespace {

/// One compilation: a context of its own, so that compilations share nothing.
class Compilation {
public:
  Compilation(const Description &description, const Target &target, const CompileOptions &options)
      : description_(description), target_(target), options_(options), context_(MLIRContext::Threading::DISABLED),
        diagnostics_(context_) {
    kernels::loadKernelDialects(context_);
  }

  /// Not for CUDA C++.
  Status buildAndLower();
  /// Of the module to begin with and the launch recipe.
  Result<std::string> digest();
  /// The module to begin with, and the passes that follow, as a text.
  Result<std::string> reproduce();
  Status emitForEmulator();
  Status dumpPtx();
  Status emitForGpu(const nvidia::Assembler &assembler);
  CompiledKernel take() { return std::move(kernel_); }

private:
  /// The module to begin with; `isTtgir` says which level it is of.
  Result<kernels::BuiltKernel> build(bool &isTtgir);
  /// Leaves a module of the LLVM dialect whose loops have `mostStages` at most, 0 = as many as they say, and the recipe
  /// but for what allocation found out.
  Status lower(int64_t mostStages);
  /// The most stages to try next, where `mostStages` have been tried; 0 if there are none.
  int64_t fewerStages(int64_t mostStages) const;
  /// What the step that needs most has more of shared memory than the target; empty if all have room.
  std::string excess();
  Status run(llvm::function_ref<void(OpPassManager &)> build, std::string_view what);
  std::string print();
  /// Tells the recipe what allocation found out.
  Status completeRecipe();

  const Description &description_;
  const Target &target_;
  const CompileOptions &options_;
  MLIRContext context_;
  DiagnosticCollector diagnostics_;
  OwningOpRef<ModuleOp> module_;
  CompiledKernel kernel_;
  int64_t statedStages_ = 0; ///< the most that a loop asks for; 0 if no loop can have fewer
  Stopwatch watch_;
};

} // namespace

std::string Compilation::print() {
  std::string text;
  llvm::raw_string_ostream stream(text);
  ModuleOp(module_.get()).print(stream);
  return text;
}

Status Compilation::run(llvm::function_ref<void(OpPassManager &)> build, std::string_view what) {
  PassManager passes(&context_);
  passes.enableVerifier(ir::kVerifyEach);
  build(passes);
  if (failed(passes.run(*module_))) {
    return diagnostics_.takeStatus(StatusCode::Unsupported, "lower", what);
  }
  return okStatus();
}

std::string Compilation::excess() {
  uint32_t limit = sharedMemoryLimit(target_.capability);
  for (const LaunchStep &step : kernel_.recipe.steps) {
    auto function = module_->lookupSymbol<LLVM::LLVMFuncOp>(step.symbol);
    uint32_t bytes = uint32_t(ir::ttg::lookupKernelNumber(function, "ttg.shared").value_or(0));
    if (bytes > limit) {
      return "the kernel needs more shared memory than " + target_.architecture() + " has: got " +
             std::to_string(bytes) + " bytes in " + step.symbol + ", limit " + std::to_string(limit);
    }
  }
  return {};
}

Status Compilation::completeRecipe() {
  // Nobody gives a kernel such memory: an engine's kernel is to declare a workspace.
  if (int64_t bytes = ir::ttg::lookupKernelNumber(*module_, "ttg.global_scratch_memory_size").value_or(0)) {
    return unsupported("the kernel must need no global scratch memory: got " + std::to_string(bytes) + " bytes");
  }
  for (LaunchStep &step : kernel_.recipe.steps) {
    auto function = module_->lookupSymbol<LLVM::LLVMFuncOp>(step.symbol);
    step.sharedBytes = ir::ttg::lookupKernelNumber(function, "ttg.shared").value_or(0);
    auto threads = function->getAttrOfType<DenseI32ArrayAttr>("nvvm.reqntid");
    step.threads = uint32_t(threads.asArrayRef().front()); // with the warps that specialization adds
    kernel_.statistics.sharedBytes = std::max(kernel_.statistics.sharedBytes, step.sharedBytes);
  }
  return okStatus();
}

Result<kernels::BuiltKernel> Compilation::build(bool &isTtgir) {
  isTtgir = false;
  if (!isUserKernel(description_)) {
    return kernels::buildKernel(description_, target_, context_);
  }
  JITK_ASSIGN(UserKernel user, readUserKernel(description_));
  isTtgir = user.language == UserKernel::Language::Ttgir;
  Result<kernels::BuiltKernel> parsed = kernels::parseIrKernel(user, description_, target_, context_);
  if (!parsed.ok() && diagnostics_.any()) {
    return diagnostics_.takeStatus(StatusCode::InvalidArgument, "build", "reading the source");
  }
  return parsed;
}

/// The most stages that a loop of the module asks for; 0 without loops.
static int64_t mostStagesOf(ModuleOp module) {
  int64_t most = 0;
  module.walk([&](scf::ForOp loop) {
    auto stated = loop->getAttrOfType<IntegerAttr>("tt.num_stages");
    most = std::max(most, stated ? stated.getInt() : kDefaultStages);
  });
  return most;
}

int64_t Compilation::fewerStages(int64_t mostStages) const {
  // More slots than these would hold next to nothing.
  constexpr int64_t kMost = 16;
  int64_t tried = mostStages > 0 ? mostStages : std::min(statedStages_, kMost);
  return tried - 1;
}

Status Compilation::buildAndLower() {
  // Rings are made before layouts, so that what conversions and reductions need beside them is found out at the end.
  std::string first;
  int64_t stages = 0;
  JITK_TRY(lower(stages));
  for (std::string failure = excess(); !failure.empty(); failure = excess()) {
    first = first.empty() ? failure : first;
    stages = fewerStages(stages);
    if (stages < 1) {
      return unsupported(first);
    }
    JITK_TRY(lower(stages));
  }
  if (stages > 0) {
    kernel_.note = "loops have " + std::to_string(stages) + " stages at most, where " + std::to_string(statedStages_) +
                   " were asked for: else " + first;
  }
  return completeRecipe();
}

Status Compilation::lower(int64_t mostStages) {
  bool isTtgir = false;
  Result<kernels::BuiltKernel> built = build(isTtgir);
  if (!built.ok()) {
    return std::move(built).takeStatus().atStage("build");
  }
  module_ = std::move(built->module);
  kernel_.recipe = std::move(built->recipe);
  kernel_.times.build += watch_.lap();
  if (!isTtgir) {
    statedStages_ = mostStagesOf(*module_);
    if (options_.dump) {
      kernel_.dump.commonIr = print();
    }
    markParameters(*module_, kernel_.recipe);
    JITK_TRY(run([&](OpPassManager &pm) { buildTtgirPipeline(pm, target_, mostStages); }, "making TTGIR"));
    addTensorMaps(*module_, kernel_.recipe);
  }
  if (options_.dump) {
    kernel_.dump.ttgir = print();
  }
  JITK_TRY(run([&](OpPassManager &pm) { buildLoweringPipeline(pm); }, "lowering TTGIR"));
  kernel_.times.lower += watch_.lap();
  return okStatus();
}

/// What a GPU of the emulated architecture is given: the same module, down the other path.
Status Compilation::dumpPtx() {
  OwningOpRef<ModuleOp> copy(module_->clone());
  Result<nvidia::PtxModule> ptx = nvidia::emitPtx(*copy, target_);
  if (!ptx.ok()) {
    return std::move(ptx).takeStatus().atStage("llvm");
  }
  kernel_.dump.ptx = std::move(ptx->ptx);
  watch_.lap(); // not a part of the compilation
  return okStatus();
}

Result<std::string> Compilation::digest() {
  bool isTtgir = false;
  JITK_ASSIGN(kernels::BuiltKernel built, build(isTtgir));
  module_ = std::move(built.module);
  llvm::SHA256 hash;
  hash.update(isTtgir ? "ttgir\n" : "commonir\n");
  hash.update(llvm::ArrayRef(built.recipe.serialize()));
  std::string text;
  llvm::raw_string_ostream stream(text);
  // With its locations, which findings and failed assertions name.
  ModuleOp(module_.get()).print(stream, OpPrintingFlags().enableDebugInfo());
  hash.update(text);
  return llvm::toHex(hash.final(), /*LowerCase=*/true);
}

Result<std::string> Compilation::reproduce() {
  bool isTtgir = false;
  JITK_ASSIGN(kernels::BuiltKernel built, build(isTtgir));
  PassManager passes(&context_);
  if (!isTtgir) {
    markParameters(*built.module, built.recipe);
    buildTtgirPipeline(passes, target_);
  }
  buildLoweringPipeline(passes);
  std::string pipeline;
  llvm::raw_string_ostream stream(pipeline);
  passes.printAsTextualPipeline(stream);
  AsmState state(built.module->getOperation());
  state.attachResourcePrinter("mlir_reproducer", [&](Operation *, AsmResourceBuilder &resources) {
    resources.buildString("pipeline", pipeline);
    resources.buildBool("disable_threading", true);
    resources.buildBool("verify_each", true);
  });
  std::string text;
  llvm::raw_string_ostream printed(text);
  built.module->print(printed, state);
  return text;
}

Status Compilation::emitForEmulator() {
  // What a GPU of that architecture lacks the emulator must not make up for.
  if (Result<unsigned> version = nvidia::gateInstructions(*module_, target_); !version.ok()) {
    return std::move(version).takeStatus().atStage("llvm");
  }
  if (options_.dump) {
    JITK_TRY(dumpPtx());
  }
  Result<emulator::HostObject> object = emulator::compileForHost(*module_, options_.dump);
  if (!object.ok()) {
    return std::move(object).takeStatus().atStage("llvm");
  }
  kernel_.code = std::move(object->code);
  kernel_.dump.llvmIr = std::move(object->llvmIr);
  kernel_.times.llvm = watch_.lap();
  return okStatus();
}

Status Compilation::emitForGpu(const nvidia::Assembler &assembler) {
  Result<nvidia::PtxModule> ptx = nvidia::emitPtx(*module_, target_, {.keepLlvm = options_.dump});
  if (!ptx.ok()) {
    return std::move(ptx).takeStatus().atStage("llvm");
  }
  kernel_.times.llvm = watch_.lap();
  Result<nvidia::Cubin> cubin = assembler.assemble(ptx->ptx, target_);
  if (!cubin.ok()) {
    return std::move(cubin).takeStatus().atStage("assemble");
  }
  kernel_.times.assemble = watch_.lap();
  kernel_.code = std::move(cubin->code);
  kernel_.ptx = std::move(ptx->ptx);
  kernel_.statistics.registers = cubin->registers;
  kernel_.statistics.spillBytes = cubin->spillBytes;
  if (options_.dump) {
    kernel_.dump.llvmIr = std::move(ptx->llvmIr);
    kernel_.dump.ptx = kernel_.ptx;
  }
  return okStatus();
}

namespace {

class CompilerLibrary final : public Compiler {
public:
  std::string buildId() const override { return kBuildId; }

  Result<std::string> assemblerIdentity(const Target &target, const CompileOptions &options) override {
    if (target.kind == Target::Kind::Emulator) {
      return emulator::hostCompilerIdentity();
    }
    if (!options.cudaSource) {
      JITK_ASSIGN(std::shared_ptr<const nvidia::Assembler> assembler, assemblerFor(target, options));
      return assembler->identity();
    }
    JITK_ASSIGN(std::shared_ptr<const nvidia::CudaCompiler> cuda, cudaCompiler());
    JITK_ASSIGN(std::shared_ptr<const nvidia::Assembler> assembler, assemblerFor(target, options, cuda.get()));
    return assembler->identity() + ", " + cuda->identity();
  }

  Result<CompiledKernel> compile(const Description &description, const Target &target,
                                 const CompileOptions &options) override {
    if (isCudaSource(description)) {
      Result<CompiledKernel> kernel = compileCuda(description, target, options);
      return kernel.ok() ? std::move(kernel)
                         : std::move(kernel).takeStatus().withNote("while compiling " + description.label());
    }
    Compilation compilation(description, target, options);
    JITK_TRY(compilation.buildAndLower(), "while compiling " + description.label());
    if (target.kind == Target::Kind::Emulator) {
      JITK_TRY(compilation.emitForEmulator(), "while compiling " + description.label());
      return compilation.take();
    }
    JITK_ASSIGN(std::shared_ptr<const nvidia::Assembler> assembler, assemblerFor(target, options));
    JITK_TRY(compilation.emitForGpu(*assembler), "while compiling " + description.label());
    return compilation.take();
  }

  Result<std::string> programDigest(const Description &description, const Target &target) override {
    if (isCudaSource(description)) {
      return std::string(); // headers are a part of it
    }
    return Compilation(description, target, {}).digest();
  }

  Result<std::string> reproduce(const Description &description, const Target &target) override {
    if (isCudaSource(description)) {
      return description.word("source");
    }
    return Compilation(description, target, {}).reproduce();
  }

  Result<std::vector<Configuration>> configurations(const Description &description, const Target &target) override {
    std::vector<Configuration> all;
    for (kernels::Configuration &each : kernels::configurationsOf(description, target)) {
      all.push_back({std::move(each.name), each.clocks});
    }
    return all;
  }

  Result<std::unique_ptr<Device>> createEmulator(const EmulatorOptions &options) override {
    return emulator::createDevice(options);
  }

private:
  Result<CompiledKernel> compileCuda(const Description &description, const Target &target,
                                     const CompileOptions &options) {
    if (target.kind == Target::Kind::Emulator) {
      return unsupported("an emulator runs kernels in CommonIR and TTGIR, and none in CUDA C++: got " +
                         target.toString())
          .atStage("build");
    }
    JITK_ASSIGN(UserKernel kernel, readUserKernel(description));
    JITK_ASSIGN(std::shared_ptr<const nvidia::CudaCompiler> cuda, cudaCompiler());
    JITK_ASSIGN(std::shared_ptr<const nvidia::Assembler> assembler, assemblerFor(target, options, cuda.get()));
    return compiler::compileCuda(kernel, target, *cuda, *assembler);
  }

  Result<std::shared_ptr<const nvidia::CudaCompiler>> cudaCompiler() {
    std::lock_guard lock(mutex_);
    if (!cuda_) {
      JITK_ASSIGN(cuda_, nvidia::openCudaCompiler());
    }
    return cuda_;
  }

  /// The first assembler that knows all that a kernel for the target may need; if none does, the first that knows the
  /// target. `cuda` (may be null) is what makes the PTX, which is always of that tool's own version.
  Result<std::shared_ptr<const nvidia::Assembler>> assemblerFor(const Target &target, const CompileOptions &options,
                                                                const nvidia::CudaCompiler *cuda = nullptr) {
    JITK_ASSIGN(unsigned least, nvidia::leastPtxVersion(target));
    JITK_ASSIGN(unsigned greatest, nvidia::greatestPtxVersion(target));
    if (cuda) {
      least = greatest = std::max(least, nvidia::ptxVersionOf(cuda->identity()));
    }
    std::lock_guard lock(mutex_);
    std::shared_ptr<const nvidia::Assembler> &known = assemblers_[{options.assembler, least, greatest}];
    if (known) {
      return known;
    }
    Result<std::shared_ptr<const nvidia::Assembler>> opened =
        nvidia::openAssembler({.name = options.assembler, .path = {}, .ptxVersion = greatest});
    if (!opened.ok() && least < greatest) {
      opened = nvidia::openAssembler({.name = options.assembler, .path = {}, .ptxVersion = least});
    }
    JITK_ASSIGN(known, std::move(opened));
    return known;
  }

  std::mutex mutex_;
  std::shared_ptr<const nvidia::CudaCompiler> cuda_; ///< Guarded by mutex_.
  /// Each is opened once. Guarded by mutex_.
  std::map<std::tuple<std::string, unsigned, unsigned>, std::shared_ptr<const nvidia::Assembler>> assemblers_;
};

} // namespace

Compiler &compilerLibrary() {
  static CompilerLibrary library;
  return library;
}

} // namespace jitk::compiler
