// Decoding over a paged cache of keys and values, whose heads are shared by groups of query heads.

#pragma once

#include "src/kernels/Kernel.h"
#include "src/kernels/attention/BulkDecode.h"

#include <optional>

namespace jitk::kernels {

Result<BuiltKernel> buildPagedAttention(const Description &description, const Target &target,
                                        mlir::MLIRContext &context);

/// With that tile of the kernel of sm_90a, or, if there is none, with the gathering one.
Result<BuiltKernel> buildPagedAttention(const Description &description, std::optional<BulkTile> tile,
                                        const Target &target, mlir::MLIRContext &context);

} // namespace jitk::kernels
