// How the registers of a tensor of pointers group into vector accesses.

#pragma once

#include "backends/nvidia/codegen/lowering/FunctionLowering.h"

namespace jitk::nvidia {

/// Runs of registers that point at consecutive, aligned elements under one mask. For a scalar, one run of one.
struct AccessVector {
  unsigned length = 1;              ///< elements a vector; a power of two, at most 16 bytes
  uint32_t vectorBits = 0;          ///< the register bits that number the elements of a vector
  uint32_t freeBits = 0;            ///< the register bits that repeat elements
  llvm::SmallVector<unsigned> bits; ///< the bits of `vectorBits`, in the order of the elements

  static AccessVector of(FunctionLowering &f, mlir::Value pointers, mlir::Value mask);

  /// The register of element `k` of the vector that starts at register `first`.
  unsigned member(unsigned first, unsigned k) const;
  /// The lowest register with the same element; `reg` itself for one that starts a vector or is a member of it.
  unsigned canonical(unsigned reg) const { return reg & ~freeBits; }
};

/// True in one thread for each element accessed (null: in every thread). A scalar belongs to thread 0.
mlir::Value ownsAccess(FunctionLowering &f, mlir::Value pointers);

} // namespace jitk::nvidia
