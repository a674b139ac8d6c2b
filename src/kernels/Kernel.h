// From a description to CommonIR: the registry of kernel families.
//
// A family's builder chooses a configuration for the problem and the target, then writes the kernel with an OpBuilder:
// buffers and copies in the `tile` dialect, compute in `tt`, `arith`, `math`, `scf`, on tensors without encodings.
// Layouts, shared-memory offsets and barriers come later (src/passes).

#pragma once

#include "src/kernels/Configuration.h"
#include "src/ops/Description.h"
#include "src/runtime/Recipe.h"
#include "src/runtime/Target.h"
#include "src/support/Status.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace jitk::kernels {

/// A kernel in CommonIR and how to launch it. `recipe` lacks what only later stages know: `sharedBytes`, and `threads`
/// where warps are added.
struct BuiltKernel {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  Recipe recipe;
};

/// Builds the kernel of a description. Fails with Unsupported, naming what is not supported, where no family can serve
/// the problem on the target. Uses nothing but `context`; as thread-safe as that.
Result<BuiltKernel> buildKernel(const Description &description, const Target &target, mlir::MLIRContext &context);

/// What a family chooses from for a description, the cheapest first; empty where it knows but one way. A description
/// whose attribute `configuration` names one of them is built so.
std::vector<Configuration> configurationsOf(const Description &description, const Target &target);

/// Loads the dialects that kernels are built from.
void loadKernelDialects(mlir::MLIRContext &context);

} // namespace jitk::kernels
