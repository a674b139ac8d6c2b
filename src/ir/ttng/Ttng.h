// The `ttng` dialect: memory barriers, bulk tensor copies, warpgroup matrix products, tensor memory.

#pragma once

#include "src/ir/ttg/Ttg.h"

#include "src/ir/ttng/TtngDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "src/ir/ttng/TtngAttrs.h.inc"

namespace jitk::ir::ttng {

/// The tensor memory of the SM.
struct TensorMemory : mlir::SideEffects::Resource::Base<TensorMemory> {
  llvm::StringRef getName() final { return "tensor memory"; }
};

} // namespace jitk::ir::ttng

#define GET_OP_CLASSES
#include "src/ir/ttng/TtngOps.h.inc"
