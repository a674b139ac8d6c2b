// The `ttg` dialect: encodings of tensors over registers and shared memory, memory descriptors, and the ops that move
// data.
//
// What an encoding means is the linear map that src/ir/layout makes of it; code that places elements asks that map and
// never switches on the kind of encoding.

#pragma once

#include "src/ir/tt/Tt.h"

#include "mlir/Interfaces/ViewLikeInterface.h"

#include "src/ir/ttg/TtgDialect.h.inc"
#include "src/ir/ttg/TtgInterfaces.h.inc"

#define GET_ATTRDEF_CLASSES
#include "src/ir/ttg/TtgAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "src/ir/ttg/TtgTypes.h.inc"

namespace jitk::ir::ttg {

/// The shared memory of the CTA.
struct SharedMemory : mlir::SideEffects::Resource::Base<SharedMemory> {
  llvm::StringRef getName() final { return "shared memory"; }
};

inline constexpr llvm::StringLiteral kNumWarps = "ttg.num-warps";
inline constexpr llvm::StringLiteral kNumCTAs = "ttg.num-ctas";
/// CTAs of a cluster, along x, where each of them is a program of its own; beside kNumCTAs = 1.
inline constexpr llvm::StringLiteral kClusterDimX = "ttg.cluster-dim-x";
inline constexpr llvm::StringLiteral kThreadsPerWarp = "ttg.threads-per-warp";
inline constexpr llvm::StringLiteral kTarget = "ttg.target";

/// What a kernel says of itself: `name` on the function around `op`, else on the module; none if neither says. So a
/// module can hold kernels of different sizes, and one with a single kernel looks as Triton prints it.
std::optional<int> lookupKernelNumber(mlir::Operation *op, llvm::StringRef name);

/// Where a pass writes such a number for `kernel`: the module if the kernel is the only one, else the function.
mlir::Operation *holderOfKernelNumbers(mlir::FunctionOpInterface kernel);

/// The warps that run `op`: those of the partition around it, else `ttg.num-warps` of the kernel; none if neither is
/// there.
std::optional<int> maybeLookupNumWarps(mlir::Operation *op);

/// As `maybeLookupNumWarps`; 4 where nothing says.
int lookupNumWarps(mlir::Operation *op);

/// Threads of a warp and CTAs of a cluster, from the module around `op`; without `maybe`, 32 and 1 where it does not
/// say.
std::optional<int> maybeLookupThreadsPerWarp(mlir::Operation *op);
std::optional<int> maybeLookupNumCTAs(mlir::Operation *op);
int lookupThreadsPerWarp(mlir::Operation *op);
int lookupNumCTAs(mlir::Operation *op);

/// How the CTAs of a cluster share a tensor of this encoding. A slice and a dot operand take it from their parent.
CGAEncodingAttr getCGALayout(mlir::Attribute encoding);

} // namespace jitk::ir::ttg

#define GET_OP_CLASSES
#include "src/ir/ttg/TtgOps.h.inc"
