#include "src/compiler/Pipelines.h"

#include "backends/nvidia/codegen/Passes.h"
#include "src/passes/Passes.h"

#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace jitk::compiler {

void buildTtgirPipeline(OpPassManager &pm, const Target &target, int64_t mostStages) {
  // Before the conversion: a buffer's layout must be known when its descriptor type is made.
  pm.addPass(passes::createInferBufferLayouts());
  pm.addPass(passes::createConvertCommonIrToTtgir({.enableAsyncCopy = target.capability >= 80}));
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  if (target.capability >= 80) {
    pm.addPass(passes::createFormAsyncCopies());
  }
  // Before rings are made, which get what room it leaves.
  pm.addPass(passes::createFormTileStores());
  // Before layouts, which what it makes again for later iterations is to be given too.
  pm.addPass(passes::createPipelineCopies({.numStages = kDefaultStages, .mostStages = mostStages}));
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());

  pm.addPass(passes::createAssignLayouts());
  // After layouts: clones of one index computation in one layout merge, and what layouts left unused goes.
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(createLoopInvariantCodeMotionPass());
  // Where everything has its place: what it moves stands as it is to be issued.
  pm.addPass(passes::createStartDotsEarly());
}

void buildLoweringPipeline(OpPassManager &pm) {
  pm.addPass(passes::createGuardDotLoops());
  // Before allocation: warps communicate through shared memory.
  pm.addPass(passes::createAllocateWarpGroups());
  pm.addPass(passes::createAllocateGlobalScratch());
  pm.addPass(passes::createAllocateSharedMemory());
  // After allocation: whether two accesses need a barrier depends on their offsets.
  pm.addPass(passes::createInsertBarriers());

  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(nvidia::createConvertTtgirToLlvm());
}

namespace {

/// "sm_90a" on the command line of jitk-opt.
struct TargetParser : llvm::cl::parser<Target> {
  using parser::parser;
  bool parse(llvm::cl::Option &option, StringRef, StringRef text, Target &target) {
    Result<Target> parsed = Target::parse({text.data(), text.size()});
    if (!parsed.ok()) {
      return option.error(parsed.status().message());
    }
    target = *parsed;
    return false;
  }
  static void print(raw_ostream &stream, const Target &target) { stream << target.toString(); }
};

struct TtgirPipelineOptions : PassPipelineOptions<TtgirPipelineOptions> {
  Option<Target, TargetParser> target{*this, "target", llvm::cl::desc("architecture, as sm_90a"),
                                      llvm::cl::init(Target{Target::Kind::Cuda, 90, true})};
};

} // namespace

void registerPipelines() {
  PassPipelineRegistration<TtgirPipelineOptions>(
      "jitk-commonir-to-ttgir-pipeline", "CommonIR to TTGIR with layouts",
      [](OpPassManager &pm, const TtgirPipelineOptions &options) { buildTtgirPipeline(pm, options.target); });
  PassPipelineRegistration<>("jitk-ttgir-to-llvm-pipeline", "TTGIR to the LLVM and ptx dialects",
                             [](OpPassManager &pm) { buildLoweringPipeline(pm); });
}

} // namespace jitk::compiler
