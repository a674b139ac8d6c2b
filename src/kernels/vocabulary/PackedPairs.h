// Results of 16 bits that wait in registers, two to a register: as i32, which no stage of the compiler takes apart.

#pragma once

#include "src/kernels/vocabulary/KernelBuilder.h"

namespace jitk::kernels {

/// [r, c] of a 16-bit float to [r, c / 2] of i32: columns 2i and 2i + 1 in the low and the high half.
mlir::Value packPairs(KernelBuilder &builder, mlir::Value matrix);
/// And back.
mlir::Value unpackPairs(KernelBuilder &builder, mlir::Value pairs, mlir::Type elementType);

} // namespace jitk::kernels
