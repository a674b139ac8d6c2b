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
  mlir::scf::ForOp start; ///< iterations count from where this one begins: `loop`, or a loop around it

  /// Where the same iteration of the loop has both, they differ by their offsets.
  bool walksWith(const RingIndex &other) const {
    return loop == other.loop && start == other.start && size == other.size;
  }

  /// Recognizes a counter that is carried by the loop and wraps by compare and select, before or after its step, and
  /// remainders (or masks) of the induction variable. The loop's step is one and starts are constants; a counter may be
  /// carried on by loops around it, from where the loop has left it.
  static std::optional<RingIndex> match(mlir::Value index);
};

} // namespace jitk::passes
