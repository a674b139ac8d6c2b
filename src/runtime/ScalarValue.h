// The scalars of a launch as the caller gives them, and as a kernel takes them.

#pragma once

#include "jitk/jitk.h"
#include "src/ops/Scalar.h"
#include "src/support/Status.h"

namespace jitk {

/// The bits of a value in a type, in the low bytes: a floating-point number rounded to nearest even, an integer as it
/// is. An integer that a double holds stands for a float too. None for a value of another kind, or outside of the
/// type's range; infinities and NaN are in that of each float.
std::optional<uint64_t> encodeScalar(const jitk_scalar_t &value, ScalarType type);

/// InvalidArgument that says why there are no bits.
Status unfitScalar(const jitk_scalar_t &value, const ScalarForm &form);

} // namespace jitk
