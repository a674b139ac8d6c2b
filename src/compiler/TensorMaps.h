// The tensor maps that passes add to a kernel's parameters (src/passes/TileMaps.h), in its recipe.

#pragma once

#include "src/runtime/Recipe.h"

#include "mlir/IR/BuiltinOps.h"

namespace jitk::compiler {

/// Tells the passes what a launch gives for each parameter. The steps' arguments are those of the functions, in their
/// order, and what the lowering adds.
void markParameters(mlir::ModuleOp module, const Recipe &recipe);

/// Adds the maps of the parameters that the passes have added, and drops all marks.
void addTensorMaps(mlir::ModuleOp module, Recipe &recipe);

} // namespace jitk::compiler
