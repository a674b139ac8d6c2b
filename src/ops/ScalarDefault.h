// The values that scalars of a launch and Number attributes have by default.

#pragma once

#include "src/ops/OpSchema.h"

namespace jitk {

/// The value of the scalar's `defaultValue` for a description of its op.
double defaultOf(const ScalarSchema &scalar, const Description &description);
/// That of a Number attribute.
double defaultOf(const AttributeSchema &number, const Description &description);

/// The value of a Number attribute of the description: the one given, an fp32 number, or the default.
double numberOf(std::string_view name, const Description &description);

} // namespace jitk
