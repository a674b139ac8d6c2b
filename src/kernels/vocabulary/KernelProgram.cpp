#include "src/kernels/vocabulary/KernelProgram.h"

#include "src/kernels/vocabulary/KernelBuilder.h"

using namespace mlir;

namespace jitk::kernels {

/// Whether steps overlap. Through the instructions of sm_80 the assembler takes up to 33 registers more for a product
/// after griddepcontrol.launch_dependents, and spills.
static bool launchesProgrammatically(const Target &target) { return target.capability == 90; }

KernelProgram::KernelProgram(MLIRContext &context, const KernelSignature &signature, const Target &target)
    : signature_(signature), launchesProgrammatically_(launchesProgrammatically(target)), recipe_(signature.recipe()) {
  ImplicitLocOpBuilder builder(UnknownLoc::get(&context), &context);
  module_ = ModuleOp::create(builder);
  Operation *module = *module_;
  module->setAttr("ttg.num-ctas", builder.getI32IntegerAttr(1));
  module->setAttr("ttg.threads-per-warp", builder.getI32IntegerAttr(32));
  module->setAttr("ttg.target", builder.getStringAttr("cuda:" + std::to_string(target.capability)));
}

void KernelProgram::step(const Step &step, llvm::function_ref<void(KernelBuilder &)> write) {
  KernelBuilder builder(*this, step);
  write(builder);
  std::move(builder).close(step.grid);
}

BuiltKernel KernelProgram::finish() && { return {std::move(module_), std::move(recipe_)}; }

} // namespace jitk::kernels
