// Loops that are products of large tiles.

#pragma once

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace jitk::passes {

/// Whether the loop adds one product an iteration to accumulators that fill half of the register file: no other CTA
/// fits beside it that would keep the tensor cores busy, so that a product is to run on while the next one is started
/// (--jitk-start-dots-early), and what surrounds the loop is to be overlapped with it.
bool keepsProductInFlight(mlir::scf::ForOp loop, unsigned capability);

} // namespace jitk::passes
