// Which numbers of a kernel are known to be 0 or more.

#pragma once

#include "mlir/IR/Value.h"

namespace jitk::passes {

/// Whether the integer, a scalar, is known to be 0 or more wherever it is computed: one that is made of program ids,
/// constants, sizes that are known to be positive and counters of loops that begin so, without a subtraction. Sums and
/// products that do not fit their bits are left aside, and what is divided by counts as positive.
bool isNotNegative(mlir::Value value);

} // namespace jitk::passes
