#include "src/passes/Passes.h"

#include "src/ir/tile/Tile.h"
#include "src/ir/ttng/Ttng.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace jitk::passes {

#define GEN_PASS_REGISTRATION
#include "src/passes/Passes.h.inc"

void registerPasses() { registerJitkPasses(); }

} // namespace jitk::passes
