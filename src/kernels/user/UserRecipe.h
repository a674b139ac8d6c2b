// How a kernel of the engine's own is launched.

#pragma once

#include "src/ops/UserKernel.h"
#include "src/runtime/Recipe.h"

#include <string>

namespace jitk::kernels {

/// One step with all that the description says; without the threads where the IR tells them.
Recipe userRecipe(const UserKernel &kernel, const std::string &symbol);

} // namespace jitk::kernels
