// A kernel of one or several steps: device functions that run one after the other in a stream.
//
//   KernelSignature signature;                       // tensors, dimensions, scalars, regions of the workspace
//   KernelProgram program(context, signature, target);
//   program.step({.symbol = "partial", .numWarps = 8, .grid = ...}, [&](KernelBuilder &b) { ... });
//   program.step({.symbol = "combine", .numWarps = 4, .grid = ...}, [&](KernelBuilder &b) { ... });
//   return std::move(program).finish();
//
// The program owns the module and the recipe. A step sees what the steps before it wrote: to the outputs, and to the
// regions of the workspace. On sm_90a a step begins while the one before it ends, and waits for it (see
// `ir::kProgrammaticLaunch`).

#pragma once

#include "src/ir/tt/Tt.h"
#include "src/kernels/Kernel.h"
#include "src/kernels/vocabulary/KernelSignature.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace jitk::kernels {

class KernelBuilder;

class KernelProgram {
public:
  struct Step {
    llvm::StringRef symbol;
    unsigned numWarps = 4; ///< of 32 threads, a CTA
    std::array<Expression, 3> grid = {Expression::constant(1), Expression::constant(1), Expression::constant(1)};
    /// CTAs of a cluster, which run side by side and reach into each other's shared memory. Divides the grid, along x.
    unsigned clusterSize = 1;
    /// The tensors, regions and scalars that the step may take; empty = all. Of the tensors it takes those it uses. It
    /// takes every dynamic dimension.
    llvm::ArrayRef<llvm::StringRef> arguments = {};
    /// Its accumulators leave no registers for what is invariant in its loops (`ir::kKeepInvariants`).
    bool keepsInvariants = false;
  };

  /// The signature is complete, and outlives the program.
  KernelProgram(mlir::MLIRContext &context, const KernelSignature &signature, const Target &target);

  /// Adds a device function and lets `write` fill its body.
  void step(const Step &step, llvm::function_ref<void(KernelBuilder &)> write);

  /// Hands the module over with the recipe.
  BuiltKernel finish() &&;

private:
  friend class KernelBuilder;

  const KernelSignature &signature_;
  bool launchesProgrammatically_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
  Recipe recipe_;
};

} // namespace jitk::kernels
