// The passes of the NVIDIA code generator; what each does stands in Passes.td.

#pragma once

#include "mlir/Pass/Pass.h"

#include <memory>

namespace jitk::nvidia {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "backends/nvidia/codegen/Passes.h.inc"

} // namespace jitk::nvidia
