// The passes on CommonIR and TTGIR; what each does stands in Passes.td.

#pragma once

#include "mlir/Pass/Pass.h"

#include <memory>

namespace jitk::passes {

#define GEN_PASS_DECL
#include "src/passes/Passes.h.inc"

/// Makes the passes known to jitk-opt.
void registerPasses();

} // namespace jitk::passes
