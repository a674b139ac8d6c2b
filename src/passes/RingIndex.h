// Indices that walk round a ring of buffers, one step an iteration of a loop.

#pragma once

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <optional>

namespace jitk::passes {

/// The index (offset + k) mod size in iteration k of `loop`.
struct RingIndex {
  mlir::scf::ForOp loop;
  int64_t offset = 0;
  int64_t size = 0;

  /// Recognizes a counter that is carried by the loop and wraps by compare and select, before or after its step, and
  /// remainders (or masks) of the induction variable. The loop's step is one and starts are constants.
  static std::optional<RingIndex> match(mlir::Value index);
};

} // namespace jitk::passes
