// Compiles ahead what a suite, a measurement or a tuner is going to run.

#pragma once

#include "jitk/jitk.hpp"
#include "src/tools/checked/CheckedRun.h"

#include <string>
#include <vector>

namespace jitk::checked {

/// Compiles the descriptions for `target` on all cores of the host. What fails says so where it is asked for again;
/// throws what parsing a description throws.
void prepare(const api::Runtime &runtime, const std::string &target, const std::vector<std::string> &descriptions);
void prepare(const api::Runtime &runtime, const std::string &target, const std::vector<Problem> &problems);

} // namespace jitk::checked
