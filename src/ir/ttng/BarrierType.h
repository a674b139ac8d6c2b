// The type of memory barriers in shared memory.

#pragma once

#include "src/ir/ttg/Ttg.h"

namespace jitk::ir::ttng {

/// Barriers of 64 bits: {1} for one, {count, 1} for a row of them.
inline ttg::MemDescType barrierType(mlir::MLIRContext *context, llvm::ArrayRef<int64_t> shape) {
  auto layout =
      ttg::SwizzledSharedEncodingAttr::get(context, 1, 1, 1, {0}, ttg::CGAEncodingAttr::getTrivial(context, 1));
  return ttg::MemDescType::get(shape, mlir::IntegerType::get(context, 64), layout,
                               ttg::SharedMemorySpaceAttr::get(context), /*mutableMemory=*/true);
}

} // namespace jitk::ir::ttng
