// The problems of the conformance suite: the edge cases of each op, small enough for the emulator, and the sizes of
// real models, for a GPU.

#pragma once

#include "src/tools/checked/CheckedRun.h"

#include <vector>

namespace jitk::conformance {

/// Edge cases; each runs on every device.
const std::vector<checked::Problem> &edgeCases();

/// Real sizes; a GPU runs them in moments, an emulator would take hours.
const std::vector<checked::Problem> &fullSizes();

} // namespace jitk::conformance
