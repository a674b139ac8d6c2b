// Arrays of memory barriers in shared memory.

#pragma once

#include "src/kernels/vocabulary/KernelBuilder.h"

namespace jitk::kernels {

/// Allocates `count` barriers, each of whose rounds ends with so many arrivals.
mlir::Value makeBarriers(KernelBuilder &builder, int64_t count, unsigned arrivals);

/// One of them; `index` i32.
mlir::Value barrierAt(KernelBuilder &builder, mlir::Value barriers, mlir::Value index);

} // namespace jitk::kernels
