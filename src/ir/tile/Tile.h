// The `tile` dialect: CommonIR's buffers.
//
// A program allocates buffers, copies whole buffers from and to global memory, and computes on tensors in between.
// Buffers have no layout in their type: the op that makes one may carry `tle.gpu_layout`. The op set is that of the
// dialect's users on several targets; what a GPU cannot do still parses, and the conversion to TTGIR refuses it.

#pragma once

#include "src/ir/tt/Tt.h"

#include "mlir/Interfaces/ViewLikeInterface.h"

#include "src/ir/tile/TileDialect.h.inc"
#include "src/ir/tile/TileEnums.h.inc"

#define GET_TYPEDEF_CLASSES
#include "src/ir/tile/TileTypes.h.inc"

#define GET_ATTRDEF_CLASSES
#include "src/ir/tile/TileAttrs.h.inc"

namespace jitk::ir::tile {

/// The memory that buffers are in. On GPUs all of them are in shared memory.
struct BufferMemory : mlir::SideEffects::Resource::Base<BufferMemory> {
  llvm::StringRef getName() final { return "buffers"; }
};

/// The discardable attribute with the shared encoding of the buffer that an op makes.
inline constexpr llvm::StringLiteral kGpuLayout = "tle.gpu_layout";

} // namespace jitk::ir::tile

#define GET_OP_CLASSES
#include "src/ir/tile/TileOps.h.inc"
