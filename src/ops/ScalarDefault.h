// The values that scalars of a launch have by default.

#pragma once

#include "src/ops/OpSchema.h"

namespace jitk {

/// The value of the scalar's `defaultValue` for a description of its op.
double defaultOf(const ScalarSchema &scalar, const Description &description);

} // namespace jitk
