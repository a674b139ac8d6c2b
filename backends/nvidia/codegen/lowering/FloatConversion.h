// Conversions between floating-point types.

#pragma once

#include "backends/nvidia/codegen/lowering/LoweringBuilder.h"

namespace jitk::nvidia {

/// Converts between f16, bf16, f32 and f64, to nearest even. Between f16 and bf16 it goes through f32, which is exact.
mlir::Value convertFloat(LoweringBuilder &b, mlir::Value value, mlir::Type type);

/// Decodes fp8 numbers, each an i8 of format `format` (f8E4M3FN or f8E5M2), to f16. From sm_89 on an instruction
/// decodes two at a time.
llvm::SmallVector<mlir::Value> decodeFloat8(LoweringBuilder &b, llvm::ArrayRef<mlir::Value> values, mlir::Type format,
                                            unsigned capability);

/// Encodes f32 numbers as fp8 to nearest even; what is too large becomes the largest finite number, with its sign.
llvm::SmallVector<mlir::Value> encodeFloat8(LoweringBuilder &b, llvm::ArrayRef<mlir::Value> values, mlir::Type format,
                                            unsigned capability);

} // namespace jitk::nvidia
